// Fusion decided together with the schedule.
#include "planner/overlap/adaptive_fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace fm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Launches that may consist of an operator and an epilogue; fused they have `fused` capacity.
struct Launch {
  std::string name;
  std::uint64_t fused = 0, first = 0, second = 0;
  bool divisible = false;
};

struct Network {
  std::vector<Launch> launches;
  std::vector<LcOpgWeight> weights;  ///< `layer` counts launches

  FusedSchedule operator()(const std::set<std::string>& unfused) const {
    FusedSchedule schedule;
    LcOpgProblem& problem = schedule.problem;
    problem.chunk_bytes = Bytes(1);
    problem.m_peak = Bytes(1000);
    problem.weights = weights;
    std::vector<std::size_t> layer_of;
    for (const Launch& launch : launches) {
      layer_of.push_back(problem.layers.size());
      if (unfused.count(launch.name) != 0) {
        problem.layers.push_back({launch.name + ".operator", launch.first});
        problem.layers.push_back({launch.name + ".epilogue", launch.second});
        continue;
      }
      if (launch.divisible) {
        schedule.splits.push_back(
            {problem.layers.size(), launch.first, launch.second, launch.name});
      }
      problem.layers.push_back({launch.name, launch.fused});
    }
    for (LcOpgWeight& weight : problem.weights) weight.layer = layer_of[weight.layer];
    schedule.result = solve_lc_opg(problem);
    schedule.cost = schedule.result.objective;
    return schedule;
  }
};

/// Two launches before a weight of 12 chunks; only with the first one split it can be streamed.
Network small_network() {
  return {{{"gelu", 2, 8, 6, true}, {"plain", 1, 1, 0, true}, {"head", 0, 0, 0, false}},
          {{"w", Bytes(12), 2, false}}};
}

TEST(AdaptiveFusion, SplitsWhatForcesAWeightIntoPreload) {
  const AdaptiveFusionResult result = adapt_fusion(small_network());
  EXPECT_THAT(result.unfused, ElementsAre("gelu"));
  EXPECT_EQ(result.schedule.result.preloaded_chunks, 0u);
  EXPECT_DOUBLE_EQ(result.schedule.cost, 0.1 * 3);
}

TEST(AdaptiveFusion, PenaltyCountsForcedPreloadAndDistance) {
  const Network network = small_network();
  const std::vector<RankedSplit> ranked = rank_splits(network({}), {});
  ASSERT_EQ(ranked.size(), 1u) << "`plain` gains nothing";
  // 12 chunks preloaded less; two layers of distance more, the added one not counted.
  EXPECT_DOUBLE_EQ(ranked[0].penalty, 0.9 * 12 - 0.1 * 2);
}

TEST(AdaptiveFusion, AlphaHoldsBackSmallGains) {
  Network network = small_network();
  network.launches[0] = {"gelu", 10, 8, 6, true};
  EXPECT_THAT(adapt_fusion(network, {0.1, 0.5, 40}).unfused, IsEmpty());
  EXPECT_THAT(adapt_fusion(network, {0.1, 0.4, 40}).unfused, ElementsAre("gelu"));
}

TEST(AdaptiveFusion, LeavesAloneWhatHasCapacityEnough) {
  Network network = small_network();
  network.launches[0].fused = 20;
  const AdaptiveFusionResult result = adapt_fusion(network);
  EXPECT_THAT(result.unfused, IsEmpty());
  EXPECT_EQ(result.plans, 1u);
}

TEST(AdaptiveFusion, NeverSplitsWhatIsNotOffered) {
  Network network = small_network();
  network.launches[0].divisible = false;
  EXPECT_THAT(adapt_fusion(network).unfused, IsEmpty());
}

TEST(AdaptiveFusion, InTimeRanksByLostCapacityThatCopiesBehindNeed) {
  const Network network = small_network();
  FusedSchedule schedule = network({});
  schedule.copied = {0, 0, 7};
  const std::vector<RankedSplit> ranked = rank_splits(schedule, {});
  ASSERT_EQ(ranked.size(), 1u);
  EXPECT_DOUBLE_EQ(ranked[0].penalty, 7) << "of 12 chunks of lost capacity";
  schedule.copied = {20, 0, 0};
  EXPECT_THAT(rank_splits(schedule, {}), IsEmpty()) << "all is copied before the launch";
}

TEST(AdaptiveFusion, IsNeverWorseThanFusedAndKeepsItsLimit) {
  std::mt19937 random(1);
  int improved = 0;
  for (int round = 0; round < 12; ++round) {
    Network network;
    for (int i = 0; i < 14; ++i) {
      const std::uint64_t fused = random() % 4;
      network.launches.push_back(
          {"n" + std::to_string(i), fused, fused + random() % 3, random() % 4, random() % 2 == 0});
      if (random() % 2 == 0) {
        network.weights.push_back({"w" + std::to_string(i), Bytes(1 + random() % 12),
                                   static_cast<std::size_t>(i), false});
      }
    }
    const AdaptiveFusionResult result = adapt_fusion(network, {0.1, 0.1, 12});
    EXPECT_LE(result.plans, 12u);
    const double fused = network({}).cost;
    EXPECT_LE(result.schedule.cost, fused) << round;
    EXPECT_DOUBLE_EQ(network(result.unfused).cost, result.schedule.cost);
    improved += result.schedule.cost < fused ? 1 : 0;
  }
  EXPECT_GT(improved, 4);
}

}  // namespace
}  // namespace fm
