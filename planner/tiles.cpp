#include "planner/tiles.hpp"

#include "core/diagnostics.hpp"
#include "core/yaml_value.hpp"
#include "kernels/launch_tiles.hpp"

namespace fm {
namespace {

const TunedTile* measured_tile(const TileFile& measured, const Plan& plan,
                               const PlanLaunch& launch) {
  const auto found = measured.tiles.find(tile_subject(plan, launch));
  if (found == measured.tiles.end()) return nullptr;
  const std::string refusal = tile_refusal(launch, found->second.tile);
  if (!refusal.empty()) {
    throw UserError(found->second.where,
                    found->first + ": " + refusal + "; remove the entry and run fmexec tune again");
  }
  return &found->second;
}

}  // namespace

void choose_tiles(const DeviceConfig& config, const TileFile& measured, Plan* plan) {
  const auto vector_width = static_cast<std::int64_t>(config.count("gpu.vector_width"));
  for (PlanLaunch& launch : plan->launches) {
    if (!has_tile(launch)) continue;
    const TunedTile* tuned = measured_tile(measured, *plan, launch);
    const LaunchTile tile = tuned ? tuned->tile : default_tile(*plan, launch, vector_width);
    if (!(tile == tile_of(launch))) launch = with_tile(launch, tile);
  }
}

TileFile read_tile_file(const std::string& path) {
  TileFile file = parse_tile_file(read_text_file(path), path);
  if (file.kernels != tiled_kernels_digest()) {
    throw UserError(path + ": measured with kernels of another version; run fmexec tune -o " +
                    path + " again");
  }
  return file;
}

}  // namespace fm
