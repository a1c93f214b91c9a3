#pragma once
// Microbenchmark curves as text for a terminal and as JSON for the ledger.

#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "sim/microbench/microbench_curve.hpp"

namespace fm {

/// Latency curves as their runs, plateaus and knees, the others point by point.
std::string text_of(const MicrobenchCurve& curve);

/// {"config", "clock_hz", "cores", "curves": {name: {"unit", "points": [{"axes", "value"}],
/// "levels" of latency curves}}}. Deterministic.
std::string microbench_json(const DeviceConfig& config, const std::vector<MicrobenchCurve>& curves);

}  // namespace fm
