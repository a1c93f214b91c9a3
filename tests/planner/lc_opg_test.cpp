// LC-OPG from problem to plan.
#include "planner/overlap/lc_opg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnostics.hpp"
#include "planner/overlap/lc_opg_branch.hpp"
#include "tests/planner/lc_opg_random.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;

double in_paper_units(const LcOpgProblem& problem, std::int64_t cost) {
  return static_cast<double>(cost) / static_cast<double>(lc_opg_instance(problem).cost_scale);
}

/// The paper's constraints, and that the numbers reported are those of the plan.
void expect_valid(const LcOpgProblem& problem, const LcOpgResult& result) {
  std::vector<std::uint64_t> used(problem.layers.size(), 0);
  std::uint64_t preloaded = 0, distance = 0;
  for (std::size_t i = 0; i < problem.weights.size(); ++i) {
    const LcOpgWeight& weight = problem.weights[i];
    const LcOpgWeightPlan& plan = result.weights[i];
    const std::uint64_t chunks = ceil_div(weight.bytes.count(), problem.chunk_bytes.count());
    EXPECT_TRUE(plan.preloaded || weight.layer > 0) << "the first layer's weights are in W";
    EXPECT_TRUE(plan.preloaded || !weight.preload);
    if (plan.preloaded) {
      preloaded += chunks;
      EXPECT_TRUE(plan.pieces.empty());
      continue;
    }
    std::uint64_t next = 0;
    for (const LcOpgPiece& piece : plan.pieces) {
      EXPECT_EQ(piece.first_chunk, next);
      EXPECT_GE(piece.layer, plan.first_layer);
      EXPECT_LT(piece.layer, weight.layer);
      next += piece.chunk_count;
      used[piece.layer] += piece.chunk_count;
    }
    EXPECT_EQ(next, chunks);
    EXPECT_EQ(plan.pieces.at(0).layer, plan.first_layer);
    distance += weight.layer - plan.first_layer;
  }
  for (std::size_t layer = 0; layer < used.size(); ++layer) {
    EXPECT_LE(used[layer], problem.layers[layer].capacity);
    EXPECT_LE(used[layer] * problem.chunk_bytes, problem.m_peak);
  }
  EXPECT_EQ(result.preloaded_chunks, preloaded);
  EXPECT_EQ(result.distance, distance);
  EXPECT_NEAR(result.objective,
              problem.lambda * static_cast<double>(preloaded) +
                  (1 - problem.lambda) * static_cast<double>(distance),
              1e-6);
  EXPECT_LE(result.lower_bound, result.objective);
}

TEST(LcOpg, FindsAndProvesTheOptimumOfSmallProblems) {
  std::mt19937 random(4);
  for (int round = 0; round < 1500; ++round) {
    const LcOpgProblem problem = random_lc_opg({8, 3, 7, 6}, &random);
    const LcOpgResult result = solve_lc_opg(problem, {60, true});
    expect_valid(problem, result);
    EXPECT_EQ(result.status, LcOpgStatus::optimal) << round;
    EXPECT_NEAR(result.objective, in_paper_units(problem, *least_cost_by_trying(problem)), 1e-9)
        << round;
  }
}

TEST(LcOpg, TheRootsBoundIsNeverAboveTheOptimum) {
  std::mt19937 random(5);
  int open = 0;
  for (int round = 0; round < 1500; ++round) {
    const LcOpgProblem problem = random_lc_opg({12, 3, 9, 8}, &random);
    const LcOpgInstance instance = lc_opg_instance(problem);
    const LcOpgMinimumPreload least = minimum_preload(instance);
    const std::vector<char> all(instance.weight_count(), 1);
    const LcOpgRows rows = relaxation_rows(instance, least);
    LcOpgBranch branch(instance, rows, {all, PreloadEvaluator(instance, all).cost()});
    LcOpgBudget none{0, [] { return false; }};
    branch.root(100'000, &none);
    const std::int64_t optimum = *least_cost_by_trying(problem);
    ASSERT_LE(branch.bound(), optimum) << round;
    ASSERT_GE(branch.best().cost, optimum) << round;
    open += branch.bound() < optimum ? 1 : 0;
  }
  EXPECT_LT(open, 1500 / 2) << "most need no branching";
}

TEST(LcOpg, KeepsThePreloadLimit) {
  std::mt19937 random(6);
  int infeasible = 0;
  for (int round = 0; round < 800; ++round) {
    LcOpgProblem problem = random_lc_opg({8, 3, 7, 6}, &random);
    problem.preload_limit = Bytes(1024 * (random() % 20));
    const auto optimum = least_cost_by_trying(problem);
    if (!optimum) {
      ++infeasible;
      EXPECT_THROW(solve_lc_opg(problem), UserError);
      continue;
    }
    const LcOpgResult result = solve_lc_opg(problem, {60, true});
    expect_valid(problem, result);
    EXPECT_LE(result.preloaded_chunks * 1024, problem.preload_limit->count());
    EXPECT_NEAR(result.objective, in_paper_units(problem, *optimum), 1e-9) << round;
  }
  EXPECT_GT(infeasible, 50);
}

LcOpgProblem small_problem() {
  LcOpgProblem problem;
  problem.chunk_bytes = Bytes(1024);
  problem.m_peak = Bytes(1024 * 100);
  problem.layers = {{"first", 2}, {"second", 2}, {"third", 0}};
  problem.weights = {{"a", Bytes(1024), 0, false}, {"b", Bytes(4096), 2, false}};
  return problem;
}

std::string message_of(const LcOpgProblem& problem) {
  try {
    solve_lc_opg(problem);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(LcOpg, CountsPreloadInChunksAndDistanceInLayers) {
  const LcOpgResult result = solve_lc_opg(small_problem());
  EXPECT_TRUE(result.weights[0].preloaded);
  EXPECT_FALSE(result.weights[1].preloaded);
  EXPECT_DOUBLE_EQ(result.objective, 0.9 * 1 + 0.1 * 2);
  EXPECT_EQ(result.status, LcOpgStatus::optimal);
  EXPECT_EQ(result.gap, 0);
}

TEST(LcOpg, PreloadsWhatTheUserNames) {
  LcOpgProblem problem = small_problem();
  force_preload({"b"}, &problem);
  EXPECT_DOUBLE_EQ(solve_lc_opg(problem).objective, 0.9 * 5);
  EXPECT_THROW(force_preload({"bb"}, &problem), UserError);
}

TEST(LcOpg, ExtremeLambdas) {
  LcOpgProblem problem = small_problem();
  problem.lambda = 0;  // preloading is free
  EXPECT_EQ(solve_lc_opg(problem).objective, 0);
  problem.lambda = 1;  // distance is free
  EXPECT_EQ(solve_lc_opg(problem).preloaded_chunks, 1u);
  problem.lambda = 0.12345;
  EXPECT_THAT(message_of(problem), HasSubstr("four decimals"));
}

TEST(LcOpg, SaysWhatHoldsAnImpossibleLimit) {
  LcOpgProblem problem = small_problem();
  problem.weights[1].bytes = Bytes(3 * 1024);
  problem.weights.push_back({"c", Bytes(3 * 1024), 2, false});
  problem.preload_limit = Bytes(2 * 1024);
  EXPECT_THAT(message_of(problem),
              HasSubstr("at least 4 must be preloaded: the weights read up to layer 'third' have 7 "
                        "chunks and the layers before it can carry 4"));
  problem.preload_limit = Bytes(0);
  problem.weights.resize(2);
  EXPECT_THAT(message_of(problem), HasSubstr("so many have the weights of the first layer"));
}

TEST(LcOpg, WithoutCapacityEverythingIsPreloaded) {
  LcOpgProblem problem = small_problem();
  problem.m_peak = Bytes(0);
  const LcOpgResult result = solve_lc_opg(problem);
  EXPECT_EQ(result.preloaded_chunks, 5u);
  EXPECT_EQ(result.status, LcOpgStatus::optimal);
}

TEST(LcOpg, TimeLimitGivesAPlanWithItsGap) {
  std::mt19937 random(7);
  LcOpgProblem problem = random_lc_opg({400, 3, 300, 9}, &random);
  problem.lambda = 0.9;
  const LcOpgResult result = solve_lc_opg(problem, {1e-6, true});
  expect_valid(problem, result);
  EXPECT_EQ(result.status, LcOpgStatus::time_limit);
  EXPECT_GT(result.gap, 0);
}

TEST(LcOpg, TheSameProblemGivesTheSamePlan) {
  std::mt19937 random(8);
  const LcOpgProblem problem = random_lc_opg({200, 3, 100, 9}, &random);
  const LcOpgResult first = solve_lc_opg(problem), second = solve_lc_opg(problem);
  EXPECT_EQ(first.objective, second.objective);
  EXPECT_EQ(first.lower_bound, second.lower_bound);
  for (std::size_t i = 0; i < problem.weights.size(); ++i) {
    EXPECT_EQ(first.weights[i].preloaded, second.weights[i].preloaded);
    EXPECT_EQ(first.weights[i].pieces.size(), second.weights[i].pieces.size());
  }
}

}  // namespace
}  // namespace fm
