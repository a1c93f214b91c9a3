// Where device configs, their bases and DRAM presets are found.
#include <algorithm>
#include <filesystem>

#include "core/device_config_file.hpp"

namespace fm {
namespace {

namespace fs = std::filesystem;

/// Of the working folder, of the sources, of the installation.
std::vector<fs::path> config_folders() {
  return {"configs", FM_SOURCE_CONFIGS, FM_INSTALL_CONFIGS};
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error);
}

/// The names of the configs in `folders`, sorted, each once.
std::vector<std::string> names_in(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || fs::path(name).extension() == ".yaml";
}

std::string find_beside(const ConfigReference& reference, const std::string& path) {
  const fs::path file = fs::path(path).parent_path() / reference.name;
  if (is_file(file)) return file.string();
  throw UserError(reference.where, "'" + reference.name + "': there is no file " + file.string());
}

/// `name` in `folders`, in their order; the file `path` itself only when there is no other.
std::string find_named(const ConfigReference& reference, const std::vector<fs::path>& folders,
                       const std::string& path, const std::string& what) {
  std::string itself;
  for (const fs::path& folder : folders) {
    const fs::path candidate = folder / (reference.name + ".yaml");
    if (!is_file(candidate)) continue;
    if (!same_file(candidate, path)) return candidate.string();
    itself = candidate.string();
  }
  if (!itself.empty()) return itself;
  throw UserError(reference.where, "no " + what + " '" + reference.name +
                                       "': " + accepted_words(reference.name, names_in(folders)));
}

}  // namespace

std::string find_device_config(const std::string& name_or_path) {
  const bool names_folder = name_or_path.find('/') != std::string::npos;
  if (names_folder || is_file(name_or_path)) return name_or_path;
  for (const fs::path& folder : config_folders()) {
    for (const char* extension : {"", ".yaml"}) {
      const fs::path candidate = folder / (name_or_path + extension);
      if (is_file(candidate)) return candidate.string();
    }
  }
  throw UserError("no device config '" + name_or_path + "': neither a file nor in configs/: " +
                  accepted_words(name_or_path, names_in(config_folders())));
}

std::string find_base_config(const ConfigReference& base, const std::string& path) {
  if (is_path(base.name)) return find_beside(base, path);
  std::vector<fs::path> folders{fs::path(path).parent_path() / "base",
                                fs::path(path).parent_path()};
  for (const fs::path& folder : config_folders()) {
    folders.push_back(folder / "base");
    folders.push_back(folder);
  }
  return find_named(base, folders, path, "config to extend");
}

std::string find_dram_preset(const ConfigReference& preset, const std::string& path) {
  if (is_path(preset.name)) return find_beside(preset, path);
  std::vector<fs::path> folders{fs::path(path).parent_path() / "dram"};
  for (const fs::path& folder : config_folders()) folders.push_back(folder / "dram");
  return find_named(preset, folders, path, "DRAM preset");
}

std::string config_origin(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(path, error);
  for (const fs::path& folder : config_folders()) {
    const fs::path inside = whole.lexically_relative(fs::weakly_canonical(folder, error));
    if (!inside.empty() && *inside.begin() != "..") return inside.string();
  }
  return fs::path(path).filename().string();
}

}  // namespace fm
