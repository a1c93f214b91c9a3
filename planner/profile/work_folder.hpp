#pragma once
// A folder for files on their way from one tool to the next.

#include <string>

namespace fm {

/// Made in the system's folder for temporary files, removed with its contents in the end.
class WorkFolder {
 public:
  /// Throws DeviceError when it cannot be made.
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace fm
