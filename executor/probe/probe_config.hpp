#pragma once
// Measured figures as a device config.

#include <string>

#include "core/device_config.hpp"
#include "executor/probe/figures.hpp"

namespace fm {

/// The base's config with `figures`, as far as it accepts them: what contradicts the rest becomes
/// not visible, with the contradiction.
DeviceConfig with_figures(const DeviceConfig& base, Figures* figures);

/// A config that builds on `base` (as the file is to name it) and gives what was found.
std::string config_yaml(const ProbeData& data, const Figures& figures, const std::string& name,
                        const std::string& base);

/// For people: what was found, with spreads; what else was seen; what was not visible, and why.
std::string report_text(const ProbeData& data, const Figures& figures);

}  // namespace fm
