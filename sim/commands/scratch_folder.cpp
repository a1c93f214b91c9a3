#include "sim/commands/scratch_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "core/diagnostics.hpp"

namespace fm {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& parent) {
  std::string pattern = (fs::path(parent) / ".fmsim_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw UserError({parent},
                    std::string("is no folder that can be written to: ") + std::strerror(errno));
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder.string();
  const char* named = std::getenv("TMPDIR");
  throw UserError(std::string("TMPDIR") + (named == nullptr ? "" : std::string(" ") + named) +
                  ": no folder for temporary files: " + error.message() + "; give -o FOLDER");
}

}  // namespace fm
