#pragma once
// Which tiles the plan's launches take.

#include "core/device_config.hpp"
#include "core/plan.hpp"

namespace fm {

/// Tiles for the device's vector width; launches keep those of their builders at a texel's four.
void choose_tiles(const DeviceConfig& config, Plan* plan);

}  // namespace fm
