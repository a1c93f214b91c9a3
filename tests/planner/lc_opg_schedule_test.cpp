// The best schedule of a fixed W, and what W must hold at least.
#include <gtest/gtest.h>

#include "planner/overlap/lc_opg_evaluator.hpp"
#include "planner/overlap/lc_opg_minimum_preload.hpp"
#include "tests/planner/lc_opg_random.hpp"

namespace fm {
namespace {

std::vector<char> random_preload(const LcOpgInstance& instance, std::mt19937* random) {
  std::vector<char> preloaded = instance.settled;
  for (char& flag : preloaded) flag = flag || (*random)() % 3 == 0;
  return preloaded;
}

/// C0, C1 and C3 of the paper.
void expect_valid(const LcOpgInstance& instance, const std::vector<char>& preloaded,
                  const LcOpgShares& shares) {
  std::vector<std::int64_t> used(instance.capacity.size(), 0);
  for (std::size_t w = 0; w < shares.size(); ++w) {
    std::int64_t chunks = 0, last = -1;
    for (const LcOpgShare& share : shares[w]) {
      EXPECT_GT(share.chunks, 0);
      EXPECT_GT(share.layer, last);
      EXPECT_LT(share.layer, instance.consumer[w]);
      last = share.layer;
      chunks += share.chunks;
      used[share.layer] += share.chunks;
    }
    EXPECT_EQ(chunks, preloaded[w] ? 0 : instance.chunks[w]);
  }
  for (std::size_t layer = 0; layer < used.size(); ++layer) {
    EXPECT_LE(used[layer], instance.capacity[layer]);
  }
}

TEST(LcOpgSchedule, ShortestRemainingFirstIsBestForAFixedPreload) {
  std::mt19937 random(1);
  int feasible = 0;
  for (int round = 0; round < 6000; ++round) {
    const LcOpgInstance instance = lc_opg_instance(random_lc_opg({5, 3, 4, 4}, &random));
    const std::vector<char> preloaded = random_preload(instance, &random);
    const auto expected = least_distance_by_trying(instance, preloaded);
    const auto shares = srpt_schedule(instance, preloaded);
    ASSERT_EQ(shares.has_value(), expected.has_value()) << round;
    if (!shares) continue;
    ++feasible;
    expect_valid(instance, preloaded, *shares);
    std::int64_t distance = 0;
    for (std::size_t w = 0; w < instance.weight_count(); ++w) {
      if (!preloaded[w]) distance += instance.consumer[w] - (*shares)[w].front().layer;
    }
    ASSERT_EQ(distance, *expected) << round;
  }
  EXPECT_GT(feasible, 2000);
}

TEST(LcOpgSchedule, StaysBestWhereWholeWeightResidencyWouldBreakIt) {
  // N = 5, C = 2 3 1 3 0; weights (consumer, chunks) = (5, 1), (5, 3), (3, 3), consumers from 1.
  LcOpgProblem problem;
  problem.chunk_bytes = Bytes(1);
  problem.m_peak = Bytes(8);
  for (const std::uint64_t capacity : {2, 3, 1, 3, 0}) problem.layers.push_back({"", capacity});
  problem.weights = {
      {"a", Bytes(1), 4, false}, {"b", Bytes(3), 4, false}, {"c", Bytes(3), 2, false}};
  const LcOpgInstance instance = lc_opg_instance(problem);
  const std::vector<char> nothing(3, 0);
  const auto shares = srpt_schedule(instance, nothing);
  ASSERT_TRUE(shares);
  EXPECT_EQ(cost_of(instance, nothing, *shares),
            instance.layer_cost * *least_distance_by_trying(instance, nothing));
}

TEST(LcOpgSchedule, MemoryLimitAsPrintedLowersCapacities) {
  LcOpgProblem problem;
  problem.chunk_bytes = Bytes(1024);
  problem.m_peak = Bytes(2 * 1024 + 1023);
  problem.layers = {{"a", 7}, {"b", 1}, {"c", 7}};
  EXPECT_EQ(lc_opg_instance(problem).capacity, (std::vector<std::int64_t>{2, 1, 2}));
}

TEST(LcOpgEvaluator, AgreesWithTheScheduleAfterEveryMove) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const LcOpgInstance instance = lc_opg_instance(random_lc_opg({30, 4, 20, 9}, &random));
    PreloadEvaluator evaluator(instance, random_preload(instance, &random));
    for (int step = 0; step < 20; ++step) {
      std::vector<std::size_t> moved{random() % instance.weight_count()};
      const std::size_t other = random() % instance.weight_count();
      if (other != moved[0]) moved.push_back(other);
      std::vector<char> after = evaluator.preloaded();
      for (const std::size_t w : moved) after[w] = !after[w];
      const auto shares = srpt_schedule(instance, after);
      const std::int64_t expected =
          shares ? cost_of(instance, after, *shares) : PreloadEvaluator::impossible;
      ASSERT_EQ(evaluator.cost_with(moved), expected) << round << " " << step;
      if (shares) {
        EXPECT_EQ(evaluator.cost_with(moved, expected + 1), expected);
        EXPECT_EQ(evaluator.cost_with(moved, expected), PreloadEvaluator::impossible);
      }
      if (step % 3 == 0) {
        evaluator.move(moved);
        ASSERT_EQ(evaluator.cost(), expected);
      }
    }
  }
}

TEST(LcOpgMinimumPreload, IsTheLeastOverAllChoices) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const LcOpgInstance instance = lc_opg_instance(random_lc_opg({5, 3, 7, 6}, &random));
    const std::size_t count = instance.weight_count();
    std::int64_t expected = PreloadEvaluator::impossible;
    for (std::size_t mask = 0; mask < std::size_t{1} << count; ++mask) {
      std::vector<char> preloaded(count);
      std::int64_t chunks = 0;
      bool allowed = true;
      for (std::size_t w = 0; w < count; ++w) {
        preloaded[w] = (mask >> w & 1) != 0;
        if (preloaded[w]) chunks += instance.chunks[w];
        allowed = allowed && (preloaded[w] || !instance.settled[w]);
      }
      if (allowed && srpt_schedule(instance, preloaded)) expected = std::min(expected, chunks);
    }
    const LcOpgMinimumPreload least = minimum_preload(instance);
    ASSERT_EQ(least.chunks, expected) << round;
    std::int64_t sum = 0;
    for (std::size_t w = 0; w < count; ++w) sum += least.preloaded[w] ? instance.chunks[w] : 0;
    EXPECT_EQ(sum, least.chunks);
    EXPECT_TRUE(srpt_schedule(instance, least.preloaded));
    for (const LcOpgDue& due : least.due) EXPECT_GE(due.least, due.excess);
  }
}

}  // namespace
}  // namespace fm
