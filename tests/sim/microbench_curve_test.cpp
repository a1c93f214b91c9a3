// Curves from times, and caches from curves.
#include "sim/microbench/microbench_curve.hpp"

#include <gmock/gmock.h>

#include <deque>

#include "core/diagnostics.hpp"
#include "core/microbench_label.hpp"
#include "sim/microbench/latency_levels.hpp"

namespace fm {
namespace {

void add(Result* result, const std::string& id, std::uint64_t start, std::uint64_t end) {
  ResultLaunch launch;
  launch.id = id;
  launch.start = Nanoseconds(start);
  launch.end = Nanoseconds(end);
  result->launches.push_back(launch);
}

TEST(MicrobenchCurve, SubtractsWhatBothPartsPay) {
  Result result;
  add(&result, "footprint=64 part=warm work=30 unit=ns/hop", 0, 9000);
  add(&result, "footprint=64 part=brief work=10 unit=ns/hop", 10000, 10500 + 10 * 7);
  add(&result, "footprint=64 part=full work=30 unit=ns/hop", 20000, 20500 + 30 * 7);
  add(&result, "L5", 1, 2);  // somebody else's
  const MicrobenchCurve curve = curve_of("chase", result, 1e9);
  ASSERT_EQ(curve.points.size(), 1u);
  EXPECT_EQ(curve.unit, "ns/hop");
  EXPECT_EQ(curve.points[0].axis("footprint"), 64);
  EXPECT_DOUBLE_EQ(curve.points[0].value, 7);
}

TEST(MicrobenchCurve, MeasuresRatesASecondAndACycle) {
  Result result;
  add(&result, "width=4 part=alone work=600 unit=texel/clk", 0, 100);
  EXPECT_DOUBLE_EQ(curve_of("t", result, 0.5e9).points[0].value, 12);  // 50 cycles
  result.launches.clear();
  TimelineEvent read;
  read.lane = "disk";
  read.name = "read request=4 part=alone work=4096 unit=B/ns";
  read.end = Nanoseconds(1024);
  result.timeline.push_back(read);
  EXPECT_DOUBLE_EQ(curve_of("d", result, 1e9).points[0].value, 4);
}

TEST(MicrobenchCurve, TakesASeriesFromItsFirstEnd) {
  Result result;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    add(&result, "queued=1 part=series work=1 unit=ns/launch number=" + std::to_string(i), 100 * i,
        100 * i + 30);
  }
  EXPECT_DOUBLE_EQ(curve_of("l", result, 1e9).points[0].value, 100);
}

TEST(MicrobenchCurve, RefusesHalfAPoint) {
  Result result;
  add(&result, "width=4 part=full work=600 unit=B/ns", 0, 100);
  EXPECT_THROW(curve_of("half", result, 1e9), UserError);
}

/// A chase's mean latency over an LRU cache, by brute force.
double chase(std::int64_t footprint, std::int64_t line, std::size_t sets, std::size_t ways) {
  std::vector<std::deque<std::int64_t>> cache(sets);
  std::int64_t hits = 0, hops = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t at = 0; at < footprint; at += 16) {
      const std::int64_t number = at / line;
      auto& set = cache[static_cast<std::size_t>(number) % sets];
      const auto found = std::find(set.begin(), set.end(), number);
      if (round == 2) {
        ++hops;
        hits += found != set.end();
      }
      if (found != set.end()) set.erase(found);
      set.push_front(number);
      if (set.size() > ways) set.pop_back();
    }
  }
  return 300 - 200.0 * static_cast<double>(hits) / static_cast<double>(hops);
}

LatencyLevels levels_over(std::int64_t line, std::size_t sets, std::size_t ways) {
  const auto bytes = static_cast<std::int64_t>(sets * ways) * line;
  MicrobenchCurve curve{"chase", "ns/hop", {}};
  for (std::int64_t footprint = bytes / 4; footprint < 2 * bytes; footprint += 16) {
    curve.points.push_back(
        {{{"footprint", footprint}, {"stride", 16}}, chase(footprint, line, sets, ways)});
  }
  return latency_levels(curve).at(0);
}

TEST(LatencyLevels, FindsCapacityLineSetsAndWays) {
  struct Cache {
    std::int64_t line;
    std::size_t sets, ways;
  };
  for (const Cache& cache : {Cache{32, 2, 16}, {64, 4, 8}, {64, 8, 4}, {128, 2, 16}, {64, 16, 2}}) {
    const LatencyLevels levels = levels_over(cache.line, cache.sets, cache.ways);
    ASSERT_EQ(levels.knees.size(), 1u) << cache.line;
    const LatencyKnee& knee = levels.knees[0];
    EXPECT_EQ(knee.capacity, cache.line * static_cast<std::int64_t>(cache.sets * cache.ways));
    EXPECT_EQ(knee.line, cache.line);
    EXPECT_EQ(knee.sets, static_cast<std::int64_t>(cache.sets));
    EXPECT_EQ(knee.ways, static_cast<std::int64_t>(cache.ways));
    EXPECT_DOUBLE_EQ(levels.plateaus[0].nanoseconds, 100);
  }
}

}  // namespace
}  // namespace fm
