#include "planner/tiles.hpp"

#include "kernels/launch_tiles.hpp"

namespace fm {

void choose_tiles(const DeviceConfig& config, Plan* plan) {
  const auto vector_width = static_cast<std::int64_t>(config.count("gpu.vector_width"));
  for (PlanLaunch& launch : plan->launches) {
    if (!has_tile(launch)) continue;
    const LaunchTile tile = default_tile(*plan, launch, vector_width);
    if (!(tile == tile_of(launch))) launch = with_tile(launch, tile);
  }
}

}  // namespace fm
