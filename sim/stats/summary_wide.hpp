#pragma once
// What `fmsim --summary wide` prints beyond the brief summary.

#include <string>

#include "core/device_config.hpp"
#include "core/result.hpp"

namespace fm {

/// The run as lanes over time with its memory, its kernels, its memory hierarchy and its stalls:
/// ASCII lines for a terminal of 80 columns.
std::string wide_summary_of(const Result& result, const DeviceConfig& config);

}  // namespace fm
