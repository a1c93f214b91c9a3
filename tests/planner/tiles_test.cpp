// Tiles of plans: wide on devices whose work-items compute many lanes, the builders' elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/catalogue.hpp"
#include "kernels/launch_tiles.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

/// Vectors of the tiled launches of a stack of two products.
std::vector<std::int64_t> vectors_of(const std::string& config, PlacementPolicy placement,
                                     std::int64_t width = 64) {
  PlanOptions options;
  options.placement = placement;
  const Plan plan = plan_of(stack_model(2, width), options, config);
  validate_launches(plan);
  std::vector<std::int64_t> vectors;
  for (const PlanLaunch& launch : plan.launches) {
    if (has_tile(launch)) vectors.push_back(tile_of(launch).vector);
  }
  return vectors;
}

TEST(Tiles, AreAsWideAsTheDeviceInBuffers) {
  EXPECT_THAT(vectors_of("pocl-host", PlacementPolicy::buffer), testing::ElementsAre(16, 16));
}

TEST(Tiles, AreNoWiderThanARowOfTheResult) {
  EXPECT_THAT(vectors_of("pocl-host", PlacementPolicy::buffer, 9), testing::ElementsAre(8, 8));
  EXPECT_THAT(vectors_of("pocl-host", PlacementPolicy::buffer, 4), testing::ElementsAre(4, 4));
}

TEST(Tiles, AreTexelsInImagesAndOnPhones) {
  EXPECT_THAT(vectors_of("pocl-host", PlacementPolicy::image2d), testing::ElementsAre(4, 4));
  EXPECT_THAT(vectors_of("adreno-750", PlacementPolicy::buffer), testing::ElementsAre(4, 4));
}

TEST(Tiles, StayWithinAWorkGroupOfTheDevice) {
  PlanOptions options;
  options.placement = PlacementPolicy::buffer;
  const Plan plan = plan_of(stack_model(1, 64, 1000), options, "pocl-host");
  for (const PlanLaunch& launch : plan.launches) {
    if (!has_tile(launch)) continue;
    const LaunchTile tile = tile_of(launch);
    EXPECT_GT(tile.rows * tile.blocks, 8);
    EXPECT_LE(launch.local[0] * launch.local[1] * launch.local[2], 32u);
    EXPECT_GE(launch.global[1] * static_cast<std::uint64_t>(tile.rows * tile.blocks), 1000u);
  }
}

}  // namespace
}  // namespace fm
