#pragma once
// Where simulations in child processes write what is not whole yet.

#include <filesystem>
#include <string>

namespace fm {

/// A folder of this process's own; gone with it.
class ScratchFolder {
 public:
  /// Within `parent`. Throws UserError when that is no folder that can be written to.
  explicit ScratchFolder(const std::string& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The system's folder for temporary files. Throws UserError where there is none.
std::string temporary_folder();

}  // namespace fm
