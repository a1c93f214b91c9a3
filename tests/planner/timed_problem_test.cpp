// Budgets, floors and eager reading: exact scenarios, and brute force over all reading orders.
#include "planner/overlap/timed_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/overlap/eager_reading.hpp"
#include "planner/overlap/overlap_schedule.hpp"
#include "tests/planner/read_search.hpp"
#include "tests/planner/timed_instances.hpp"

namespace fm {
namespace {

using ::testing::ElementsAre;

/// Launches of `times` with `activations` beside weights, each using one weight of its own.
TimedProblem chain(const std::vector<std::uint64_t>& times,
                   const std::vector<std::uint64_t>& activations,
                   const std::vector<std::uint64_t>& weights, Bytes budget) {
  TimedProblem problem;
  problem.chunk = Bytes(1);
  problem.budget = budget;
  for (std::size_t k = 0; k < times.size(); ++k) {
    TimedLaunch launch;
    launch.time = Nanoseconds(times[k]);
    launch.running = Bytes(activations[k]);
    problem.launches.push_back(launch);
    TimedWeight weight;
    weight.bytes = Bytes(weights[k]);
    weight.read = Nanoseconds(weights[k]);
    weight.first_use = weight.last_use = k;
    problem.weights.push_back(weight);
  }
  return problem;
}

std::uint64_t latency_of_copies(const TimedProblem& problem) {
  const ChunkList chunks(problem);
  return run_schedule(problem, chunks, copies_before_use(problem, chunks)).latency.count();
}

TEST(TimedProblem, ReadingAheadWithoutRegardForLaterLaunchesWouldDeadlock) {
  const TimedProblem problem = chain({1, 1, 1}, {0, 3, 1}, {1, 1, 2}, Bytes(4));
  EXPECT_EQ(minimum_budget(problem).bytes, Bytes(4));
  EXPECT_EQ(minimum_budget(problem).launch, 1u);
  EXPECT_EQ(minimum_budget(problem).activations, Bytes(3));
  EXPECT_EQ(minimum_budget(problem).weights, Bytes(1));
  // By its own memory launch 0 would let the reader take all four bytes; launch 1 leaves room for
  // two, the first of which is free again by then.
  const PointerCaps caps = pointer_caps(problem, weight_demand(problem));
  EXPECT_THAT(caps.running, ElementsAre(2, 2, 4));
  EXPECT_THAT(caps.waiting, ElementsAre(2, 2, 4));
  EXPECT_DOUBLE_EQ(eager_reading(problem).latency, 6);  // 1, run 1, run 1, read 2, run 1
  EXPECT_EQ(ReadSearch(problem).shortest(), 6u);
  EXPECT_EQ(latency_of_copies(problem), 6u);
}

TEST(TimedProblem, SlowdownsAreConvexButForWholeNanoseconds) {
  TimedProblem problem = chain({100}, {0}, {1}, Bytes(8));
  const auto with = [&](const SlowdownCurve& curve) {
    problem.launches[0].slowdown = curve;
    check(problem);
  };
  const auto at = [](std::uint64_t bytes, std::uint64_t extra) {
    return SlowdownPoint{Bytes(bytes), Nanoseconds(extra)};
  };
  // 0.06 ns a byte, rounded: 1 at 10 instead of 0.6, and on with a lower slope.
  EXPECT_NO_THROW(with({at(10, 1), at(110, 7)}));
  EXPECT_NO_THROW(with({at(10, 1), at(1010, 61), at(2010, 121)}));
  EXPECT_THROW(with({at(1000, 100), at(2000, 150)}), std::invalid_argument);
  EXPECT_THROW(with({at(1000, 100), at(2000, 90)}), std::invalid_argument);
  EXPECT_THROW(with({at(1000, 100), at(1000, 300)}), std::invalid_argument);
  EXPECT_THROW(with({at(0, 1)}), std::invalid_argument);
}

TEST(TimedProblem, PreloadingIsPartOfTheLeastBudget) {
  TimedProblem problem = chain({1, 1}, {1, 2}, {3, 1}, Bytes(8));
  EXPECT_EQ(minimum_budget(problem).bytes, Bytes(4));
  problem.preloading = Bytes(4);
  EXPECT_FALSE(minimum_budget(problem).preloading);
  problem.preloading = Bytes(5);
  EXPECT_EQ(minimum_budget(problem).bytes, Bytes(5));
  EXPECT_TRUE(minimum_budget(problem).preloading);
  problem.whole_claims = true;
  for (TimedWeight& weight : problem.weights) weight.form = WeightForm::buffer;
  const ChunkList chunks(problem);
  EXPECT_GE(run_schedule(problem, chunks, copies_before_use(problem, chunks)).peak.total, Bytes(5));
}

TEST(TimedProblem, ClaimingWholeWeightsBreaksEarliestDeadlineFirst) {
  TimedProblem problem = chain({6, 1, 1}, {0, 0, 0}, {3, 6, 3}, Bytes(8));
  EXPECT_DOUBLE_EQ(eager_reading(problem).latency, 14);
  EXPECT_EQ(ReadSearch(problem).shortest(), 14u);
  EXPECT_EQ(latency_of_copies(problem), 14u);
  problem.chunk = Bytes(6);  // a chunk a weight
  EXPECT_EQ(latency_of_copies(problem), 20u);
}

TEST(TimedProblem, TheFloorIsDiskOrCompute) {
  TimedProblem problem = chain({5, 5, 5}, {0, 0, 0}, {1, 2, 9}, unlimited_bytes);
  EXPECT_EQ(time_floor(problem).compute, Nanoseconds(15));
  EXPECT_EQ(time_floor(problem).disk, Nanoseconds(12));
  EXPECT_EQ(time_floor(problem).latency, Nanoseconds(17));  // all read at 12, then launch 2
  EXPECT_DOUBLE_EQ(eager_reading(problem).latency, 17);
  problem.head_start = Nanoseconds(2);
  EXPECT_EQ(time_floor(problem).latency, Nanoseconds(15));
  EXPECT_DOUBLE_EQ(eager_reading(problem).latency, 15);
  EXPECT_EQ(latency_of_copies(problem), 15u);
}

TEST(TimedProblem, BrokenProblemsAreRefused) {
  TimedProblem problem = chain({1, 1}, {0, 0}, {1, 1}, unlimited_bytes);
  EXPECT_NO_THROW(check(problem));
  std::swap(problem.weights[0], problem.weights[1]);
  EXPECT_THROW(check(problem), std::invalid_argument);
  std::swap(problem.weights[0], problem.weights[1]);
  problem.launches[0].slowdown = {{Bytes(100), Nanoseconds(100)}, {Bytes(200), Nanoseconds(110)}};
  EXPECT_THROW(check(problem), std::invalid_argument);
}

class SmallProblems : public testing::TestWithParam<int> {};

TEST_P(SmallProblems, EagerReadingIsOptimalAndTheMinimumBudgetMinimal) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()));
  for (int i = 0; i < 40; ++i) {
    TimedProblem problem = random_small_problem(random);
    const Bytes minimum = minimum_budget(problem).bytes;
    problem.budget = minimum + Bytes(random() % 5);
    const std::optional<std::uint64_t> best = ReadSearch(problem).shortest();
    ASSERT_TRUE(best) << "seed " << GetParam() << " problem " << i;
    EXPECT_DOUBLE_EQ(eager_reading(problem).latency, static_cast<double>(*best))
        << "seed " << GetParam() << " problem " << i;
    // In chunks of a byte with free copies the run is the same.
    EXPECT_EQ(latency_of_copies(problem), *best) << "seed " << GetParam() << " problem " << i;
    EXPECT_GE(*best, time_floor(problem).latency.count());
    if (minimum == Bytes(0)) continue;
    problem.budget = minimum - Bytes(1);
    EXPECT_FALSE(ReadSearch(problem).shortest()) << "seed " << GetParam() << " problem " << i;
    EXPECT_THROW(eager_reading(problem), std::invalid_argument);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SmallProblems, testing::Range(0, 8));

}  // namespace
}  // namespace fm
