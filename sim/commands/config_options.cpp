#include "sim/commands/config_options.hpp"

#include "core/atomic_file.hpp"
#include "core/device_config_file.hpp"

namespace fm {

DeviceConfig load_config(const std::string& name_or_path,
                         const std::vector<std::string>& settings) {
  DeviceConfig config = DeviceConfig::load(name_or_path);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UserError("--set " + setting + ": write path=value, e.g. --set l2.size=4MiB");
    }
    config.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  config.check();
  return config;
}

void check_output(const std::string& output, const std::string& config, const std::string& trace) {
  AtomicFile::refuse_input(output, {find_device_config(config), trace});
}

}  // namespace fm
