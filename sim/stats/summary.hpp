#pragma once
// A result as a person reads it on a terminal of 80 columns.

#include <string>

#include "core/device_config.hpp"
#include "core/result.hpp"

namespace fm {

/// `wall_seconds`: how long the simulation took on this computer.
std::string summary_of(const Result& result, const DeviceConfig& config, double wall_seconds);

/// Every value of a config with its unit, source and citation, as `fmsim --explain` prints them.
std::string explanation_of(const DeviceConfig& config);

}  // namespace fm
