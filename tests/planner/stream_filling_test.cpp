// Groups of launches in the relaxation, and streams by the greedy choice against all choices.
#include "planner/overlap/stream_filling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "planner/overlap/launch_groups.hpp"
#include "planner/overlap/overlap_lp.hpp"
#include "tests/planner/timed_instances.hpp"

namespace fm {
namespace {

TEST(OverlapLp, GroupsOfLaunchesBoundFromBelowToo) {
  std::mt19937_64 random(29);
  double near = 0;
  for (int i = 0; i < 60; ++i) {
    TimedProblem problem = random_timed_problem(random, 20 + random() % 60, 5 + random() % 40);
    problem.head_start = Nanoseconds(random() % 3000);
    problem.whole_claims = i % 3 == 0;
    problem.ahead = random() % 2;
    problem.ring = Bytes(problem.whole_claims ? 1 << 20 : unlimited_bytes.count());
    problem.budget = minimum_budget(problem).bytes + Bytes(1024 * (random() % 12));
    const auto single = solve_overlap_lp(problem, 10);
    ASSERT_TRUE(single);
    for (const std::size_t groups : {1, 7, 15}) {
      const auto grouped = solve_overlap_lp(problem, 10, groups);
      ASSERT_TRUE(grouped);
      EXPECT_LE(grouped->latency, single->latency * (1 + 1e-6)) << i << " " << groups;
      ASSERT_EQ(grouped->streamed.size(), problem.launches.size());
      for (std::size_t k = 0; k < problem.launches.size(); ++k) {
        const SlowdownCurve& curve = problem.launches[k].slowdown;
        const double most = curve.empty() ? 0 : static_cast<double>(curve.back().streamed.count());
        EXPECT_GE(grouped->streamed[k], -1e-3);
        EXPECT_LE(grouped->streamed[k], most + 1e-3);
      }
      if (groups == 15) near += grouped->latency / single->latency / 60;
    }
  }
  EXPECT_GE(near, 0.9);
}

TEST(OverlapLp, GroupsOfOneLaunchAreTheLaunchesThemselves) {
  std::mt19937_64 random(31);
  const TimedProblem problem = random_timed_problem(random, 50, 20);
  EXPECT_EQ(launch_groups(problem, 50).size(), 50u);
  for (const std::size_t most : {1, 2, 3, 10, 49}) {
    const std::vector<LaunchGroup> groups = launch_groups(problem, most);
    EXPECT_LE(groups.size(), std::max<std::size_t>(most, 2));
    EXPECT_GE(groups.size(), most / 3);
    EXPECT_EQ(groups.front().first, 0u);
    EXPECT_EQ(groups.back().last, 49u);
    for (std::size_t i = 1; i < groups.size(); ++i) {
      EXPECT_EQ(groups[i].first, groups[i - 1].last + 1);
    }
  }
}

/// Least cost of streaming exactly `count` chunks, over all choices of chunks by launch.
class FillSearch {
 public:
  FillSearch(const TimedProblem& problem, const ChunkList& chunks,
             const std::vector<std::uint64_t>& in_time)
      : problem_(problem), chunks_(chunks), in_time_(in_time) {
    choose(0, 0, 0, 0);
  }
  const std::map<std::uint64_t, double>& least() const { return least_; }

 private:
  void choose(std::size_t k, std::uint64_t done, std::uint64_t count, double cost) {
    if (k == problem_.launches.size()) {
      const auto found = least_.emplace(count, cost).first;
      found->second = std::min(found->second, cost);
      return;
    }
    done = std::max(done, chunks_.image_needed[k]);
    const SlowdownCurve& curve = problem_.launches[k].slowdown;
    for (std::uint64_t streams = 0; done + streams <= in_time_[k]; ++streams) {
      const Bytes bytes = problem_.chunk * streams;
      if (streams > 0 && (curve.empty() || bytes > curve.back().streamed)) break;
      const double extra = streams > 0 ? static_cast<double>(extra_time(curve, bytes).count()) : 0;
      choose(k + 1, done + streams, count + streams, cost + extra);
    }
  }

  const TimedProblem& problem_;
  const ChunkList& chunks_;
  const std::vector<std::uint64_t>& in_time_;
  std::map<std::uint64_t, double> least_;
};

TEST(StreamFilling, NoChoiceOfAsManyChunksCostsLess) {
  std::mt19937_64 random(23);
  int streamed_some = 0;
  for (int i = 0; i < 200; ++i) {
    TimedProblem problem = random_timed_problem(random, 2 + random() % 5, 1 + random() % 4);
    for (TimedWeight& weight : problem.weights) weight.bytes = problem.chunk * (1 + random() % 2);
    const ChunkList chunks(problem);
    std::vector<std::uint64_t> in_time;
    std::uint64_t there = 0;
    for (std::size_t k = 0; k < problem.launches.size(); ++k) {
      there = std::min<std::uint64_t>(chunks.images.size(), there + random() % 3);
      there = std::max(there, chunks.image_needed[k]);
      in_time.push_back(there);
    }
    const FillSearch search(problem, chunks, in_time);
    std::uint64_t before = 0;
    for (const double highest : {0.0, 0.1, 0.3, 0.6, 1e9}) {
      const auto streamed = fill_streams(problem, chunks, in_time, highest);
      std::uint64_t count = 0;
      double cost = 0;
      for (std::size_t k = 0; k < streamed.size(); ++k) {
        count += streamed[k];
        if (streamed[k] == 0) continue;
        cost += static_cast<double>(
            extra_time(problem.launches[k].slowdown, problem.chunk * streamed[k]).count());
      }
      ASSERT_EQ(search.least().count(count), 1u) << i;
      EXPECT_NEAR(cost, search.least().at(count), 10) << i << " " << highest;
      EXPECT_GE(count, before);
      before = count;
    }
    EXPECT_EQ(before, search.least().rbegin()->first) << i;  // the most there can be
    streamed_some += before > 0;
  }
  EXPECT_GE(streamed_some, 50);
}

TEST(RunSchedule, LateStreamsAreLeftOutAndCopied) {
  TimedProblem problem;
  problem.chunk = Bytes(10);
  problem.copy = {Nanoseconds(3), 0.5};
  problem.launches.resize(3);
  for (TimedLaunch& launch : problem.launches) {
    launch.time = Nanoseconds(25);
    launch.slowdown = {{Bytes(20), Nanoseconds(8)}};
  }
  TimedWeight weight;
  weight.bytes = Bytes(30);
  weight.read = Nanoseconds(60);  // chunks at 20, 40 and 60
  weight.first_use = weight.last_use = 2;
  problem.weights = {weight};
  const ChunkList chunks(problem);
  // Launch 0 begins at 0, without its chunk; launch 1 at 25, when one is read.
  OverlapSchedule schedule{{0, 0, 0}, {1, 2, 0}};
  const TimedRun run = run_without_late_streams(problem, chunks, &schedule);
  EXPECT_THAT(schedule.streamed, testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(schedule.copied, testing::ElementsAre(0, 0, 2));
  EXPECT_EQ(run.finish[0], Nanoseconds(25));
  EXPECT_EQ(run.finish[1], Nanoseconds(25 + 25 + 4));
  EXPECT_EQ(run.latency, run_schedule(problem, chunks, schedule).latency);
}

}  // namespace
}  // namespace fm
