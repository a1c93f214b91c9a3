#pragma once
// --config and --set, as every command that simulates a device takes them.

#include <set>
#include <string>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

/// The named config with each `path=value` of `settings` applied, checked. Throws UserError.
DeviceConfig load_config(const std::string& name_or_path, const std::vector<std::string>& settings);

/// As load_config(), and with `scaled` the costs of changed capacities scaled
/// (core/capacity_law.hpp), except what `settings` names.
DeviceConfig load_scaled_config(const std::string& name_or_path,
                                const std::vector<std::string>& settings, bool scaled);

/// The paths that `settings` replace.
std::set<std::string> set_paths(const std::vector<std::string>& settings);

/// Throws UserError when an output would replace the config's file or the trace (may be empty).
void check_output(const std::string& output, const std::string& config, const std::string& trace);

}  // namespace fm
