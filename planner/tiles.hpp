#pragma once
// Which tiles the plan's launches take.

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "kernels/tile_file.hpp"

namespace fm {

/// Of the launches that `measured` has, its tiles; of others those for the device's vector width;
/// launches keep those of their builders at a texel's four. Throws UserError at the place of a
/// measured tile that the kernel does not serve.
void choose_tiles(const DeviceConfig& config, const TileFile& measured, Plan* plan);

/// Reads tiles for this planner's kernels. Throws UserError for those of others.
TileFile read_tile_file(const std::string& path);

}  // namespace fm
