// Streamed weights that take over images: exact cases on a stack of products of one size.
#include "planner/memory_reuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/streaming.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

constexpr Bytes weight_bytes{256 * 256 * 2};

/// Four products whose weights are streamed into images, each copied right before its launch.
Plan streamed_stack(int enqueue_ahead = 1) {
  PlanOptions options;
  options.policy = StreamingPolicy::always_next;
  options.placement = PlacementPolicy::image2d;
  Plan plan = plan_of(stack_model(4, 256), options);
  plan.enqueue_ahead = enqueue_ahead;
  set_claims(&plan);
  return plan;
}

std::vector<std::string> reused(const Plan& plan) {
  std::map<std::string, std::string> names;
  for (const PlanTensor& tensor : plan.tensors) names[tensor.id] = tensor.name;
  std::vector<std::string> result;
  for (const WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::stream) result.push_back(names[slice.reuses]);
  }
  return result;
}

Bytes peak(const Plan& plan) {
  Bytes most;
  for (const PlanLaunch& launch : plan.launches) most = std::max(most, launch.claims.total());
  return most;
}

TEST(MemoryReuse, OneImageServesWeightsThatFollowEachOther) {
  Plan plan = streamed_stack();
  const Bytes before = peak(plan);
  reuse_memory(std::nullopt, &plan);
  EXPECT_THAT(reused(plan), testing::ElementsAre("", "w0", "w1", "w2"));
  EXPECT_EQ(peak(plan), before);
  EXPECT_NO_THROW(validate(plan));
}

TEST(MemoryReuse, AnImageIsClaimedFromItsFirstFillToItsLastOwnersRelease) {
  Plan plan = streamed_stack();
  reuse_memory(std::nullopt, &plan);
  const std::size_t first = position_of(plan, "C0"), last = position_of(plan, "L4");
  for (std::size_t k = first; k <= last; ++k) {
    EXPECT_EQ(plan.launches[k].claims.tm_in_flight, weight_bytes) << plan.launches[k].id;
  }
}

TEST(MemoryReuse, ABudgetThatDoesNotHoldAnIdleImageKeepsItFromStaying) {
  Plan plan = streamed_stack();
  // A launch between the first user and the next copy, during which the image would lie idle.
  const std::size_t between = position_of(plan, "C1");
  PlanLaunch move = plan.launches[position_of(plan, "L0")];
  move.id = "M";
  plan.launches.insert(plan.launches.begin() + static_cast<std::ptrdiff_t>(between), move);
  set_claims(&plan);
  const Bytes during = plan.launch("M").claims.total();

  Plan tight = plan;
  reuse_memory(during, &tight);
  EXPECT_THAT(reused(tight), testing::ElementsAre("", "", "w1", "w2"));
  Plan roomy = plan;
  reuse_memory(during + weight_bytes, &roomy);
  EXPECT_THAT(reused(roomy), testing::ElementsAre("", "w0", "w1", "w2"));
  EXPECT_EQ(roomy.launch("M").claims.total(), during + weight_bytes);
}

TEST(MemoryReuse, ABufferIsTakenOverOnlyWhenItsReadWaitsForTheOwnersLastLaunch) {
  PlanOptions options;
  options.policy = StreamingPolicy::always_next;
  options.placement = PlacementPolicy::buffer;
  Plan plan = plan_of(stack_model(4, 256), options);
  // w2 may be read from L2 on, which still uses w1, but w0 was last used by L1.
  reuse_memory(std::nullopt, &plan);
  EXPECT_THAT(reused(plan), testing::ElementsAre("", "", "w0", "w1"));
  EXPECT_NO_THROW(validate(plan));
  EXPECT_EQ(plan.launch("L2").claims.um_in_flight, weight_bytes * 2);
}

TEST(MemoryReuse, APreloadThatIsReleasedLeavesItsMemoryToAnother) {
  PlanOptions options;
  options.policy = StreamingPolicy::always_next;
  options.placement = PlacementPolicy::buffer;
  Plan plan = plan_of(stack_model(4, 256), options);
  const Bytes stays = plan.launch("L0").claims.preloaded;
  plan.weights[0].residency = Residency::preload;
  set_claims(&plan);
  EXPECT_EQ(plan.launch("L0").claims.preloaded, stays);
  EXPECT_EQ(plan.launch("L0").claims.um_in_flight, weight_bytes);  // w0, which L1 uses
  EXPECT_EQ(plan.launch("L1").claims.um_in_flight, weight_bytes * 2);
  reuse_memory(std::nullopt, &plan);
  // Of w1, w2 and w3.
  EXPECT_THAT(reused(plan), testing::ElementsAre("", "w0", "w1"));
  EXPECT_NO_THROW(validate(plan));
}

TEST(MemoryReuse, WeightsThatAreThereAtOnceHaveImagesOfTheirOwn) {
  Plan plan = streamed_stack();
  for (WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::stream) slice.release_after = plan.launches.back().id;
  }
  set_claims(&plan);
  reuse_memory(std::nullopt, &plan);
  EXPECT_THAT(reused(plan), testing::ElementsAre("", "", "", ""));
}

TEST(MemoryReuse, ImagesOfOtherExtentsAreNoUse) {
  ModelBuilder model;
  model.input("x", {16, 256});
  model.random_weight("w0", {256, 512}).random_weight("w1", {512, 256});
  model.node("MatMul", {"x", "w0"}, {"y"}).node("MatMul", {"y", "w1"}, {"z"}).output("z");
  PlanOptions options;
  options.policy = StreamingPolicy::always_next;
  options.placement = PlacementPolicy::image2d;
  Plan plan = plan_of(model, options);
  reuse_memory(std::nullopt, &plan);
  EXPECT_THAT(reused(plan), testing::ElementsAre("", ""));
}

}  // namespace
}  // namespace fm
