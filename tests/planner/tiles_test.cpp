// Tiles of plans: wide on devices whose work-items compute many lanes, the builders' elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Tiles, AreThoseMeasuredWhereAFileHasThem) {
  PlanOptions options;
  options.placement = PlacementPolicy::buffer;
  const Plan plain = plan_of(stack_model(1, 64), options, "adreno-750");
  const auto tiled = std::find_if(plain.launches.begin(), plain.launches.end(), has_tile);
  ASSERT_NE(tiled, plain.launches.end());
  TunedTile tuned;
  tuned.tile = {2, 8, 16, {1, 2, 1}};
  tuned.where = {"t.yaml", 7, 5};
  options.tiles.tiles[tile_subject(plain, *tiled)] = tuned;
  const Plan plan = plan_of(stack_model(1, 64), options, "adreno-750");
  EXPECT_EQ(tile_of(plan.launch(tiled->id)), tuned.tile);
  // Of another size: not this entry's subject.
  const Plan other = plan_of(stack_model(1, 128), options, "adreno-750");
  EXPECT_EQ(tile_of(other.launch(tiled->id)).vector, 4);

  options.tiles.tiles.begin()->second.tile.rows = 7;
  EXPECT_THAT([&] { plan_of(stack_model(1, 64), options, "adreno-750"); },
              testing::ThrowsMessage<UserError>(
                  testing::AllOf(testing::HasSubstr("t.yaml:7:5"), testing::HasSubstr("TILE_M"))));
}

}  // namespace
}  // namespace fm
