#pragma once
// One file of a device config as it is written: part of the parameters, and the files it builds on.
// Only core/device_config*.cpp include this.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "core/yaml_value.hpp"

namespace fm {

/// What a file calls another file, and where.
struct ConfigReference {
  std::string name;
  SourceLocation where;
};

struct ConfigFile {
  std::string path;    ///< as opened: for messages
  std::string origin;  ///< as results show it: "base/mali.yaml"
  std::optional<std::string> name, description;
  std::optional<ConfigReference> base;
  std::optional<ConfigValue> dram_preset;  ///< its word names the preset
  std::map<std::string, ConfigValue> values;
};

constexpr const char* dram_preset_key = "dram.preset";

/// Throws UserError: no config of this version, unknown keys, wrong units, values out of range, no
/// source. Missing parameters are the caller's matter.
ConfigFile read_config_file(const std::string& yaml, const std::string& path,
                            const std::string& origin);

/// A value without its source, as `--set` gives it.
ConfigValue read_config_value(const YamlValue& value, const ParameterSchema& schema);

/// `curve`, of bandwidths, with every point scaled so that the highest is `plateau`. Throws
/// UserError.
ConfigValue scaled_curve(const ConfigValue& curve, const YamlValue& plateau,
                         const ParameterSchema& schema);

/// A file, or a bare name of configs/. Throws UserError naming the devices there are.
std::string find_device_config(const std::string& name_or_path);
/// What `base:` of the file `path` refers to: a path relative to it, or a name in base/ or beside
/// it, then in configs/base/ or configs/.
std::string find_base_config(const ConfigReference& base, const std::string& path);
/// What `dram.preset` refers to: a path relative to `path`, or a name in dram/ beside it, then in
/// configs/dram/.
std::string find_dram_preset(const ConfigReference& preset, const std::string& path);
/// The path within the folder of configs, or the bare file name: the same on every computer.
std::string config_origin(const std::string& path);

}  // namespace fm
