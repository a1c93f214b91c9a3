#pragma once
// Output files that appear whole or not at all.

#include <fstream>
#include <string>

namespace fm {

/// Writes to "<path>.partial-<pid>" and renames it to `path` on commit(); removed if never
/// committed or when the process is interrupted (SIGINT, SIGTERM). "-" writes to standard output.
class AtomicFile {
 public:
  /// Throws UserError when the folder does not exist or is not writable.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return *stream_; }
  /// Where the bytes are until commit(); for writers that need a file name. Empty for "-".
  const std::string& temporary_path() const { return temporary_path_; }
  /// Flushes, checks and renames. Throws DeviceError on a failed or short write (a full disk).
  void commit();

 private:
  std::string path_;
  std::string temporary_path_;
  std::ofstream file_;
  std::ostream* stream_;
  bool committed_ = false;
};

}  // namespace fm
