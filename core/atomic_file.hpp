#pragma once
// Output files that appear whole or not at all.

#include <fstream>
#include <string>
#include <vector>

namespace fm {

/// Writes to "<path>.partial-<pid>" and renames it to `path` on commit(); removed if never
/// committed or when a signal ends the process (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU). "-"
/// writes to standard output. A file, or standard output, takes one AtomicFile at a time.
class AtomicFile {
 public:
  /// Throws UserError when the folder does not exist or is not writable, and when another output
  /// that is not finished goes to the same place.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return *stream_; }
  /// Where the bytes are until commit(); for writers that need a file name. Empty for "-".
  const std::string& temporary_path() const { return temporary_path_; }
  /// Throws UserError when `path` is one of the files that are read: it would replace it.
  static void refuse_input(const std::string& path, const std::vector<std::string>& inputs);
  /// Flushes, checks and renames. Throws DeviceError on a failed or short write (a full disk).
  void commit();

 private:
  std::string path_;
  std::string temporary_path_;
  std::string place_;  ///< what no other output may go to meanwhile; empty for devices
  std::ofstream file_;
  std::ostream* stream_;
  bool committed_ = false;
};

}  // namespace fm
