#include "sim/commands/config_options.hpp"

#include <utility>

#include "core/atomic_file.hpp"
#include "core/capacity_law.hpp"
#include "core/device_config_file.hpp"

namespace fm {

namespace {

std::pair<std::string, std::string> path_and_value(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) {
    throw UserError("--set " + setting + ": write path=value, e.g. --set l2.size=4MiB");
  }
  return {setting.substr(0, equals), setting.substr(equals + 1)};
}

}  // namespace

DeviceConfig load_config(const std::string& name_or_path,
                         const std::vector<std::string>& settings) {
  return load_scaled_config(name_or_path, settings, false);
}

DeviceConfig load_scaled_config(const std::string& name_or_path,
                                const std::vector<std::string>& settings, bool scaled) {
  DeviceConfig config = DeviceConfig::load(name_or_path);
  const DeviceConfig before = config;
  for (const std::string& setting : settings) {
    const auto [path, value] = path_and_value(setting);
    config.set(path, value);
  }
  if (scaled) scale_with_capacities(before, set_paths(settings), &config);
  config.check();
  return config;
}

std::set<std::string> set_paths(const std::vector<std::string>& settings) {
  std::set<std::string> paths;
  for (const std::string& setting : settings) paths.insert(path_and_value(setting).first);
  return paths;
}

void check_output(const std::string& output, const std::string& config, const std::string& trace) {
  AtomicFile::refuse_input(output, {find_device_config(config), trace});
}

}  // namespace fm
