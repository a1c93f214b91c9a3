// When weights come: exact schedules of a small stack, and laws of claims and rings.
#include "planner/streaming.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/weights_file.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t weight_bytes = 256 * 256 * 2;

Plan stack(StreamingPolicy policy, PlacementPolicy placement,
           std::optional<Bytes> ring = std::nullopt) {
  PlanOptions options;
  options.policy = policy;
  options.placement = placement;
  options.ring = ring;
  options.eliminate = false;  // a move behind the last product
  return plan_of(stack_model(4, 256), options);
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> result;
  for (const PlanLaunch& launch : plan.launches) result.push_back(launch.id);
  return result;
}

std::map<std::string, const WeightSlice*> by_name(const Plan& plan) {
  std::map<std::string, const WeightSlice*> result;
  for (const WeightSlice& slice : plan.weights) result[plan.tensor(slice.tensor).name] = &slice;
  return result;
}

TEST(Streaming, PreloadBringsEverythingFirst) {
  const Plan plan = stack(StreamingPolicy::preload, PlacementPolicy::buffer);
  EXPECT_THAT(ids(plan),
              ElementsAre("L0", "L1", "L2", "L3", "L4", "L5"));  // move, 4 products, move
  for (const WeightSlice& slice : plan.weights) EXPECT_EQ(slice.residency, Residency::preload);
  EXPECT_EQ(plan.staging_ring_bytes, Bytes(0));
  for (const PlanLaunch& launch : plan.launches) {
    EXPECT_EQ(launch.claims.preloaded, Bytes(4 * (weight_bytes + 512)));
    EXPECT_EQ(launch.claims.um_in_flight, Bytes(0));
  }
}

TEST(Streaming, AlwaysNextReadsOneWeightedLaunchAhead) {
  const Plan plan = stack(StreamingPolicy::always_next, PlacementPolicy::buffer);
  const auto weights = by_name(plan);
  EXPECT_EQ(weights.at("w0")->earliest_launch, "");
  EXPECT_EQ(weights.at("w1")->earliest_launch, "L1");
  EXPECT_EQ(weights.at("w2")->earliest_launch, "L2");
  EXPECT_EQ(weights.at("w3")->earliest_launch, "L3");
  EXPECT_EQ(weights.at("w3")->release_after, "L4");
  EXPECT_EQ(weights.at("b3")->residency, Residency::preload);  // 512 bytes: too small to stream
  // During L2, w1 is in use and w2 arrives.
  EXPECT_EQ(plan.launch("L2").claims.um_in_flight, Bytes(2 * weight_bytes));
  EXPECT_EQ(plan.launch("L4").claims.um_in_flight, Bytes(weight_bytes));
  EXPECT_EQ(plan.launch("L5").claims.um_in_flight, Bytes(0));
}

TEST(Streaming, SameOpTypeReadsAheadWithinItsOperation) {
  const Plan plan = stack(StreamingPolicy::same_op_type, PlacementPolicy::buffer);
  const auto weights = by_name(plan);
  EXPECT_EQ(plan.launch("L1").operation, "Gemm");
  EXPECT_EQ(plan.launch("L2").operation, "MatMul");
  EXPECT_EQ(weights.at("w0")->earliest_launch, "");
  EXPECT_EQ(weights.at("w1")->earliest_launch, "");
  EXPECT_EQ(weights.at("w2")->earliest_launch, "L1");
  EXPECT_EQ(weights.at("w3")->earliest_launch, "L2");
}

TEST(Streaming, ImagesAreCopiedBeforeTheirLaunch) {
  const Plan plan = stack(StreamingPolicy::always_next, PlacementPolicy::image2d);
  EXPECT_THAT(ids(plan), ElementsAre("L0", "C0", "L1", "C1", "L2", "C2", "L3", "C3", "L4", "L5"));
  const auto weights = by_name(plan);
  const WeightSlice& second = *weights.at("w1");
  EXPECT_EQ(plan.launch("C1").weight, second.tensor);
  ASSERT_EQ(second.transforms.size(), 1u);
  EXPECT_EQ(second.transforms[0].launch, "C1");
  EXPECT_EQ(second.transforms[0].chunk_count, ceil_div(weight_bytes, plan.chunk_bytes.count()));
  EXPECT_THAT(plan.launch("L2").depends, testing::Contains("C1"));
  // One slice is read while the one before it is copied.
  EXPECT_EQ(plan.staging_ring_bytes, Bytes(weight_bytes));
  for (const PlanLaunch& launch : plan.launches) {
    EXPECT_EQ(launch.claims.staging + launch.claims.um_in_flight, plan.staging_ring_bytes)
        << launch.id;
  }
  // Copies are enqueued one launch ahead, so two images exist at once.
  EXPECT_EQ(plan.launch("L2").claims.tm_in_flight, Bytes(2 * weight_bytes));
}

TEST(Streaming, RingSizeIsTheUsersWhenGiven) {
  EXPECT_EQ(stack(StreamingPolicy::always_next, PlacementPolicy::image2d, Bytes(1 << 20))
                .staging_ring_bytes,
            Bytes(1 << 20));
  EXPECT_THAT(user_error_of([] {
                stack(StreamingPolicy::always_next, PlacementPolicy::image2d, Bytes(4096));
              }),
              HasSubstr("--ring 4096"));
  // Buffers need no ring.
  EXPECT_EQ(stack(StreamingPolicy::always_next, PlacementPolicy::buffer, Bytes(1 << 20))
                .staging_ring_bytes,
            Bytes(0));
}

TEST(Streaming, WeightsLieInFirstUseOrder) {
  const Plan plan = stack(StreamingPolicy::always_next, PlacementPolicy::buffer);
  std::vector<std::string> names;
  Bytes end;
  for (const WeightSlice& slice : plan.weights) {
    names.push_back(plan.tensor(slice.tensor).name);
    EXPECT_EQ(slice.file_offset % slice_alignment, Bytes(0));
    EXPECT_GE(slice.file_offset, end);
    end = slice.file_offset + slice.bytes;
  }
  EXPECT_THAT(names, ElementsAre("w0", "b0", "w1", "b1", "w2", "b2", "w3", "b3"));
  EXPECT_EQ(plan.weights[0].file_offset, first_slice_offset(expected_index(plan).entries));
  EXPECT_EQ(plan.weights_index_digest, index_digest(expected_index(plan)));
}

TEST(Streaming, TiedWeightsComeOnceAndStayUntilTheirLastUser) {
  ModelBuilder model;
  model.input("x", {16, 256}).random_weight("w", {256, 256}).random_weight("v", {256, 256});
  model.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "v"}, {"b"});
  model.node("MatMul", {"b", "w"}, {"y"}).output("y");
  PlanOptions options;
  options.policy = StreamingPolicy::always_next;
  options.placement = PlacementPolicy::buffer;
  const Plan plan = plan_of(model, options);
  ASSERT_EQ(plan.weights.size(), 2u);
  EXPECT_EQ(plan.weights[0].release_after, "L3");
  EXPECT_EQ(plan.launch("L2").claims.um_in_flight, Bytes(2 * weight_bytes));
}

TEST(Streaming, UnknownPoliciesAreNamed) {
  EXPECT_THAT(user_error_of([] { streaming_policy_from("always"); }), HasSubstr("always-next"));
}

}  // namespace
}  // namespace fm
