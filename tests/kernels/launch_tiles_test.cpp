#include "kernels/launch_tiles.hpp"

#include <gmock/gmock.h>

#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

/// A product's operands in one place, so that the plan and the launch name the same tensors.
struct Product {
  Product(std::int64_t m, std::int64_t k, std::int64_t n, const Storage& storage,
          bool transposed = false) {
    plan.tensors = {
        make_tensor("a", Layout::rows, {m, k}, storage).plan,
        make_tensor("b", Layout::rows, transposed ? Shape{n, k} : Shape{k, n}, storage).plan,
        make_tensor("c", Layout::rows, {m, n}, storage).plan};
    MatmulOperands operands;
    operands.a = &plan.tensors[0];
    operands.b = &plan.tensors[1];
    operands.c = &plan.tensors[2];
    operands.b_transposed = transposed;
    launch = build_matmul(operands);
  }
  Plan plan;
  PlanLaunch launch;
};

std::string refusal_of(const PlanLaunch& launch, const LaunchTile& tile) {
  try {
    with_tile(launch, tile);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(LaunchTiles, CoverTheResult) {
  const Product product(197, 768, 3072, float_buffer);
  const PlanLaunch launch = with_tile(product.launch, {8, 12, 16, {1, 5, 1}});
  EXPECT_EQ(launch.global, (std::array<std::uint64_t, 3>{64, 25, 1}));  // 768 / 12, 197 / 8
  EXPECT_EQ(launch.local, (std::array<std::uint64_t, 3>{1, 5, 1}));
  EXPECT_EQ(launch.parameters.at("VECTOR"), "16");
  EXPECT_EQ(launch.arguments.size(), product.launch.arguments.size());
  EXPECT_EQ(tile_of(launch), (LaunchTile{8, 12, 16, {1, 5, 1}}));
}

TEST(LaunchTiles, InBlocksLieBelowEachOther) {
  const Product product(197, 768, 3072, float_buffer);
  const LaunchTile tile{8, 12, 16, {1, 2, 1}, 16};
  const PlanLaunch launch = with_tile(product.launch, tile);
  EXPECT_EQ(launch.global, (std::array<std::uint64_t, 3>{64, 2, 1}));  // 197 / (8 * 16)
  EXPECT_EQ(tile_of(launch), tile);
  EXPECT_EQ(to_string(tile), "8 x 12 in blocks of 16, 16 lanes, group 1 x 2 x 1");
}

TEST(LaunchTiles, LeaveNoTraceOfATexelsFourLanes) {
  const Product product(64, 64, 64, float_buffer);
  const LaunchTile own = tile_of(product.launch);
  PlanLaunch back = with_tile(with_tile(product.launch, {8, 12, 16, {1, 5, 1}}), own);
  EXPECT_EQ(back.parameters, product.launch.parameters);
  EXPECT_EQ(back.global, product.launch.global);
  EXPECT_EQ(back.local, product.launch.local);
}

TEST(LaunchTiles, AreRefusedWithTheReason) {
  const Product product(4, 64, 40, float_buffer);
  EXPECT_THAT(refusal_of(product.launch, {8, 4, 4, {1, 1, 1}}),
              HasSubstr("larger than the result"));
  EXPECT_THAT(refusal_of(product.launch, {4, 2, 16, {1, 1, 1}}),
              HasSubstr("no multiple of 16 lanes"));
  EXPECT_THAT(refusal_of(product.launch, {3, 4, 4, {1, 1, 1}}), HasSubstr("TILE_M = 3"));
  EXPECT_THAT(refusal_of(product.launch, {4, 4, 5, {1, 1, 1}}), HasSubstr("VECTOR = 5"));
  EXPECT_THAT(refusal_of(product.launch, {4, 4, 16, {1, 0, 1}}),
              HasSubstr("at least one work-item"));
  EXPECT_THAT(refusal_of(product.launch, {4, 4, 16, {1, 1, 1}, 3}), HasSubstr("BLOCK_M = 3"));
  const Product turned(32, 64, 40, float_buffer, true);
  EXPECT_THAT(refusal_of(turned.launch, {4, 1, 16, {1, 1, 1}, 2}), HasSubstr("transposed"));
}

TEST(LaunchTiles, OfWideDevicesFillTheirRegisters) {
  const Product wide(197, 768, 3072, float_buffer);
  EXPECT_EQ(default_tile(wide.plan, wide.launch, 16), (LaunchTile{8, 12, 16, {1, 2, 1}, 16}));
  const Product heads(197, 197, 64, float_buffer);  // 16 texels: 12 would leave 8 of 24 over
  EXPECT_EQ(default_tile(heads.plan, heads.launch, 16).columns4, 8);
  const Product scores(197, 64, 197, float_buffer, true);
  EXPECT_EQ(default_tile(scores.plan, scores.launch, 16), (LaunchTile{4, 1, 16, {1, 25, 1}}));
  const Product narrow(5, 64, 9, half_buffer);  // three texels a row
  EXPECT_EQ(default_tile(narrow.plan, narrow.launch, 16).vector, 8);
}

TEST(LaunchTiles, OfPhonesAreTheBuilders) {
  const Product buffer(197, 768, 3072, half_buffer);
  EXPECT_EQ(default_tile(buffer.plan, buffer.launch, 4), tile_of(buffer.launch));
  const Product image(197, 768, 3072, half_image);
  EXPECT_EQ(default_tile(image.plan, image.launch, 16), tile_of(image.launch));
}

TEST(LaunchTiles, SubjectsTellApartWhatWantsAnotherTile) {
  const Product one(197, 64, 197, float_buffer, true), same(197, 64, 197, float_buffer, true);
  EXPECT_EQ(tile_subject(one.plan, one.launch),
            "matmul 1 x 197 x 64 x 197 transposed, buffer f32 x buffer f32");
  EXPECT_EQ(tile_subject(same.plan, with_tile(same.launch, {4, 1, 16, {1, 25, 1}})),
            tile_subject(one.plan, one.launch));
  const Product half(197, 64, 197, half_buffer, true), straight(197, 64, 197, float_buffer);
  EXPECT_NE(tile_subject(half.plan, half.launch), tile_subject(one.plan, one.launch));
  EXPECT_NE(tile_subject(straight.plan, straight.launch), tile_subject(one.plan, one.launch));
}

}  // namespace
}  // namespace fm
