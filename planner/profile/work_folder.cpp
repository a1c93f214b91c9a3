#include "planner/profile/work_folder.hpp"

#include <cstdlib>
#include <filesystem>

#include "core/diagnostics.hpp"

namespace fm {

WorkFolder::WorkFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fmplan_profile_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw DeviceError("cannot make a folder " + pattern);
  path_ = pattern;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fm
