// The relaxation against the recursion and against brute force over schedules; the policy's laws.
#include "planner/overlap/optimal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/figures_text.hpp"
#include "planner/overlap/chunk_rounding.hpp"
#include "planner/overlap/eager_reading.hpp"
#include "planner/overlap/overlap_lp.hpp"
#include "planner/overlap/read_pieces.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/timed_instances.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Best latency over all numbers of streamed chunks by launch, copies as late as possible or
/// earlier: every schedule there is.
class ScheduleSearch {
 public:
  ScheduleSearch(const TimedProblem& problem) : problem_(problem), chunks_(problem) {}

  std::uint64_t shortest() {
    schedule_.copied.assign(problem_.launches.size(), 0);
    schedule_.streamed = schedule_.copied;
    best_ = ~std::uint64_t{0};
    choose(0, 0);
    return best_;
  }
  std::size_t tried() const { return tried_; }

 private:
  void choose(std::size_t k, std::uint64_t done) {
    if (k == problem_.launches.size()) return run();
    const std::uint64_t all = chunks_.images.size();
    const std::uint64_t needed = chunks_.image_needed[k];
    for (std::uint64_t copied = needed > done ? needed - done : 0; done + copied <= all; ++copied) {
      const std::uint64_t most = problem_.launches[k].slowdown.empty() ? 0 : all - done - copied;
      for (std::uint64_t streamed = 0; streamed <= most; ++streamed) {
        schedule_.copied[k] = copied;
        schedule_.streamed[k] = streamed;
        choose(k + 1, done + copied + streamed);
      }
    }
  }

  void run() {
    ++tried_;
    try {
      best_ = std::min(best_, run_schedule(problem_, chunks_, schedule_).latency.count());
    } catch (const std::invalid_argument&) {
      // It cannot run.
    }
  }

  const TimedProblem& problem_;
  const ChunkList chunks_;
  OverlapSchedule schedule_;
  std::uint64_t best_ = 0;
  std::size_t tried_ = 0;
};

TEST(OverlapLp, WithFreeTransformsItIsTheRecursion) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 60; ++i) {
    TimedProblem problem = random_timed_problem(random, 3 + random() % 20, random() % 12);
    problem.copy = {};
    problem.head_start = Nanoseconds(random() % 3000);
    const auto solution = solve_overlap_lp(problem, 10);
    ASSERT_TRUE(solution);
    const double exact = eager_reading(problem).latency;
    EXPECT_NEAR(solution->latency, exact, 1e-6 * exact) << i;
  }
}

TEST(OverlapLp, BoundsEveryScheduleFromBelow) {
  std::mt19937_64 random(11);
  int equal = 0, problems = 0;
  double worst = 1;
  for (int i = 0; i < 60; ++i) {
    const TimedProblem problem = random_timed_problem(random, 2 + random() % 3, 1 + random() % 2);
    ScheduleSearch search(problem);
    const std::uint64_t best = search.shortest();
    ASSERT_NE(best, ~std::uint64_t{0}) << i;
    const auto relaxed = solve_overlap_lp(problem, 10);
    ASSERT_TRUE(relaxed);
    EXPECT_LE(relaxed->latency, static_cast<double>(best) * (1 + 1e-6)) << i;
    const OptimalSolution solution = solve_optimal(problem);
    EXPECT_LE(solution.lower_bound, static_cast<double>(best) * (1 + 1e-6)) << i;
    EXPECT_GE(solution.run.latency.count(), best) << i;
    ++problems;
    equal += solution.run.latency.count() == best;
    worst = std::max(worst,
                     static_cast<double>(solution.run.latency.count()) / static_cast<double>(best));
  }
  // A heuristic on a coarse grid: nearly always the optimum, and never far from it.
  EXPECT_GE(equal, problems * 9 / 10);
  EXPECT_LE(worst, 1.15);
}

TEST(RunSchedule, TimesOfASmallExample) {
  TimedProblem problem;
  problem.chunk = Bytes(10);
  problem.copy = {Nanoseconds(3), 0.5};
  problem.launches.resize(2);
  problem.launches[0].time = Nanoseconds(40);
  problem.launches[0].slowdown = {{Bytes(20), Nanoseconds(8)}};
  problem.launches[1].time = Nanoseconds(5);
  TimedWeight weight;
  weight.bytes = Bytes(30);
  weight.read = Nanoseconds(60);
  weight.first_use = weight.last_use = 1;
  problem.weights = {weight};
  const ChunkList chunks(problem);
  // All copied: read at 60, the last chunk copied in 5 after it; a copy of 3 + 15 in all.
  TimedRun run = run_schedule(problem, chunks, {{0, 3}, {0, 0}});
  EXPECT_EQ(run.start[1], Nanoseconds(65));
  EXPECT_EQ(run.latency, Nanoseconds(70));
  EXPECT_EQ(run.copying, Nanoseconds(18));
  // Two chunks inside launch 0, which waits until they are read at 40 and takes 8 longer.
  run = run_schedule(problem, chunks, {{0, 1}, {2, 0}});
  EXPECT_EQ(run.start[0], Nanoseconds(40));
  EXPECT_EQ(run.finish[0], Nanoseconds(88));
  EXPECT_EQ(run.latency, Nanoseconds(88 + 8 + 5));
  EXPECT_EQ(run.slowed, Nanoseconds(8));
  // A ring of one chunk: the next is claimed when the one before was copied.
  problem.ring = Bytes(10);
  run = run_schedule(problem, chunks, {{0, 3}, {0, 0}});
  EXPECT_EQ(run.latency, Nanoseconds(40 + 3 + 5 + 20 + 5 + 20 + 5 + 5));
  EXPECT_THROW(run_schedule(problem, chunks, {{0, 1}, {2, 0}}), std::invalid_argument);
  EXPECT_THROW(run_schedule(problem, chunks, {{0, 2}, {0, 0}}), std::invalid_argument);
}

TEST(RunSchedule, TheHostMakesImagesAndEnqueuesWithinItsDepth) {
  TimedProblem problem;
  problem.chunk = Bytes(10);
  problem.whole_claims = true;
  problem.ring = Bytes(100000);
  problem.ahead = 1;
  problem.copy = {Nanoseconds(3), 0.5};
  problem.host = {Nanoseconds(2), Nanoseconds(20), 1};
  for (const std::uint64_t time : {40, 4, 5}) {
    problem.launches.emplace_back();
    problem.launches.back().time = Nanoseconds(time);
  }
  TimedWeight weight;
  weight.bytes = Bytes(10);
  weight.read = Nanoseconds(30);
  weight.first_use = weight.last_use = 2;
  problem.weights = {weight};
  const ChunkList chunks(problem);
  TimedRun run = run_schedule(problem, chunks, {{0, 0, 1}, {0, 0, 0}});
  EXPECT_EQ(run.start[0], Nanoseconds(2));  // enqueued
  EXPECT_EQ(run.finish[1], Nanoseconds(2 + 40 + 4));
  // The copy is taken up when launch 0 is finished at 42: its image takes 30, enqueueing it 2; then
  // 3 + 5 to copy. Launch 2 is enqueued meanwhile.
  EXPECT_EQ(run.start[2], Nanoseconds(42 + 30 + 2 + 8));
  problem.ahead = 0;  // taken up when launch 1 is finished, at 48; launch 2 after the copy
  run = run_schedule(problem, chunks, {{0, 0, 1}, {0, 0, 0}});
  EXPECT_EQ(run.finish[1], Nanoseconds(48));
  EXPECT_EQ(run.start[2], Nanoseconds(48 + 30 + 2 + 8 + 2));
  problem.ahead =
      2;  // taken up at once, enqueued when it was read: the image is made while launch 0 runs
  run = run_schedule(problem, chunks, {{0, 0, 1}, {0, 0, 0}});
  EXPECT_EQ(run.start[2], Nanoseconds(30 + 30 + 2 + 8));
}

TEST(RingModel, GivesContiguousRoomInACircle) {
  RingModel ring(Bytes(100000), true);  // each piece takes 4096 more
  EXPECT_TRUE(ring.claim(40000));
  EXPECT_TRUE(ring.claim(30000));
  EXPECT_FALSE(ring.claim(30000));  // 21808 left behind, nothing in front
  ring.free_oldest();
  EXPECT_TRUE(ring.claim(30000));  // in front
  EXPECT_FALSE(ring.claim(8000));
  ring.free_oldest();
  EXPECT_TRUE(ring.claim(60000));
  RingModel loose(Bytes(100), false);
  EXPECT_TRUE(loose.claim(60));
  EXPECT_TRUE(loose.claim(40));
  EXPECT_FALSE(loose.claim(1));
  loose.free_oldest();
  EXPECT_TRUE(loose.claim(60));
}

TEST(ReadPieces, CoverAllChunksInOrderAndNoMoreThanOneTransform) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 50; ++i) {
    TimedProblem problem = random_timed_problem(random, 10, 12);
    problem.whole_claims = true;
    problem.ring = Bytes(64 * 1024);
    const ChunkList chunks(problem);
    const OverlapSchedule schedule = copies_before_use(problem, chunks);
    std::size_t next = 0;
    for (const ReadPiece& piece : read_pieces(problem, chunks, schedule)) {
      ASSERT_EQ(piece.first_chunk, next);
      std::int64_t bytes = 0;
      for (std::size_t c = next; c < next + piece.chunk_count; ++c) {
        EXPECT_EQ(chunks.all[c].weight, chunks.all[next].weight);
        bytes += static_cast<std::int64_t>(chunks.all[c].bytes);
      }
      EXPECT_EQ(piece.bytes, bytes);
      next += piece.chunk_count;
    }
    EXPECT_EQ(next, chunks.all.size());
  }
}

TEST(Optimal, KeepsItsLawsWithWholeClaims) {
  std::mt19937_64 random(19);
  for (int i = 0; i < 40; ++i) {
    TimedProblem problem = random_timed_problem(random, 10 + random() % 40, 5 + random() % 30);
    problem.whole_claims = true;
    problem.ahead = random() % 2;
    problem.ring = Bytes(16384 << (random() % 4));
    const Bytes least = minimum_budget(problem).bytes;
    Nanoseconds before(~std::uint64_t{0});
    for (const std::uint64_t beyond : {0, 4096, 16384, 1 << 20}) {
      problem.budget = least + Bytes(beyond);
      const OptimalSolution solution = solve_optimal(problem);
      EXPECT_EQ(solve_optimal(problem).schedule.streamed, solution.schedule.streamed);
      EXPECT_LE(solution.run.peak.total, problem.budget);
      EXPECT_GE(static_cast<double>(solution.run.latency.count()), solution.lower_bound - 1);
      const ChunkList chunks(problem);
      const TimedRun copies = run_schedule(problem, chunks, copies_before_use(problem, chunks));
      EXPECT_LE(solution.run.latency, copies.latency);
      EXPECT_LE(copies.latency, before);
      before = copies.latency;
    }
    problem.budget = least - Bytes(1);
    EXPECT_NE(user_error_of([&] { solve_optimal(problem); }), "");
  }
}

TEST(Optimal, KeepsItsLawsOnLargerProblems) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 40; ++i) {
    const TimedProblem problem =
        random_timed_problem(random, 10 + random() % 60, 5 + random() % 40);
    const ChunkList chunks(problem);
    const OptimalSolution solution = solve_optimal(problem);
    EXPECT_LE(solution.run.peak.total, problem.budget);
    EXPECT_GE(static_cast<double>(solution.run.latency.count()), solution.lower_bound - 1);
    EXPECT_GE(solution.run.latency, time_floor(problem).latency);
    EXPECT_EQ(run_schedule(problem, chunks, solution.schedule).latency, solution.run.latency);
    const OverlapSchedule copies = copies_before_use(problem, chunks);
    EXPECT_LE(solution.run.latency, run_schedule(problem, chunks, copies).latency);
    EXPECT_EQ(solution.run.peak.total, solution.run.peak.unified + solution.run.peak.texture +
                                           solution.run.peak.activations);
    // Memory is what the launch's own weights take, and what the run has for them.
    TimedProblem least = problem;
    least.budget = minimum_budget(problem).bytes;
    EXPECT_EQ(solve_optimal(least).run.peak.total, least.budget);
  }
}

TEST(Optimal, SaysWhatHoldsTheMinimum) {
  std::mt19937_64 random(5);
  TimedProblem problem = random_timed_problem(random, 5, 4);
  const MinimumBudget minimum = minimum_budget(problem);
  problem.budget = minimum.bytes - Bytes(1);
  EXPECT_THAT(user_error_of([&] { solve_optimal(problem); }),
              AllOf(HasSubstr(least_budget_text(minimum.bytes)),
                    HasSubstr("launch " + std::to_string(minimum.launch))));
}

TEST(Optimal, MinimizesMemoryWithinASlowdown) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 10; ++i) {
    TimedProblem problem = random_timed_problem(random, 30, 15);
    problem.budget = unlimited_bytes;
    const OptimalSolution fastest = solve_optimal(problem);
    Bytes before = unlimited_bytes;
    for (const double slowdown : {0.0, 0.1, 10.0}) {
      const BudgetedSolution found = minimize_memory(problem, slowdown, Bytes(1024));
      EXPECT_LE(found.solution.run.peak.total, found.budget);
      EXPECT_LE(static_cast<double>(found.solution.run.latency.count()),
                static_cast<double>(fastest.run.latency.count()) * (1 + slowdown) + 1);
      EXPECT_LE(found.budget, before);
      before = found.budget;
    }
    EXPECT_EQ(before, minimum_budget(problem).bytes);  // ten times longer: anything goes
  }
}

TEST(Optimal, TheFrontTradesMemoryForTime) {
  std::mt19937_64 random(13);
  TimedProblem problem = random_timed_problem(random, 40, 25);
  problem.budget = unlimited_bytes;
  const std::vector<BudgetedSolution> front = pareto_front(problem, 6);
  ASSERT_GE(front.size(), 2u);
  EXPECT_EQ(front.front().budget, minimum_budget(problem).bytes);
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_GT(front[i].budget, front[i - 1].budget);
    EXPECT_LT(front[i].solution.run.latency, front[i - 1].solution.run.latency);
  }
  EXPECT_LE(front.back().solution.run.latency, solve_optimal(problem).run.latency);
}

TEST(Optimal, StaysWithinAPercentOfTheBoundForNetworksOfThePaper) {
  // Layers, launches and parameters as table 6 of FlashMem (arXiv 2602.15379) lists them.
  const std::vector<StackSize> sizes{
      {12, 50, 164000000, 16, 300, 2e9},    {24, 46, 1419000000, 170, 500, 2e9},
      {32, 45, 2781000000, 342, 500, 2e9},  {12, 68, 103000000, 21, 300, 2e9},
      {24, 58, 204000000, 42, 300, 2e9},    {48, 42, 356000000, 55, 400, 4e9},
      {40, 30, 13000000000, 1600, 500, 2e9}};
  for (const StackSize& size : sizes) {
    TimedProblem problem = transformer_stack(size);
    const Bytes minimum = minimum_budget(problem).bytes;
    for (const Bytes budget : {minimum, minimum * 3 / 2, minimum * 2, unlimited_bytes}) {
      problem.budget = budget;
      EXPECT_LE(solve_optimal(problem).gap(), 0.01)
          << size.parameters << " parameters, budget " << budget.count();
    }
  }
}

}  // namespace
}  // namespace fm
