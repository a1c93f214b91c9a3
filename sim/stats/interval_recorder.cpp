#include "sim/stats/interval_recorder.hpp"

#include <numeric>

#include "core/diagnostics.hpp"

namespace fm {

void IntervalRecorder::record(Picoseconds now) {
  if (snapshots_.size() == most_intervals) {
    throw UserError("--interval: the run has more than " + std::to_string(most_intervals) +
                    " intervals (at " + std::to_string(now.count() / 1000000) +
                    " us): choose longer ones");
  }
  ends_.push_back(now - start_);
  snapshots_.push_back(registry_.snapshot());
}

void IntervalRecorder::restart(Picoseconds now) {
  start_ = now;
  ends_.clear();
  snapshots_.clear();
}

ResultIntervals IntervalRecorder::intervals(Picoseconds length, Picoseconds now) const {
  const Picoseconds end = now - start_;
  std::vector<Picoseconds> ends = ends_;
  std::vector<std::vector<std::uint64_t>> snapshots = snapshots_;
  // What moved after the last record(), counters of idle time among it, belongs to the last one.
  if (ends.empty() || ends.back() < end) {
    ends.push_back(end);
    snapshots.emplace_back();
  }
  snapshots.back() = registry_.snapshot();
  ResultIntervals intervals;
  intervals.length = to_nanoseconds(length);
  for (const Picoseconds time : ends) intervals.ends.push_back(to_nanoseconds(time));
  std::size_t counter = 0;
  for (const auto& [name, entry] : registry_.entries()) {
    if (snapshots.back()[counter] != 0) {
      std::vector<double>& movements = intervals.counters[name];
      std::uint64_t before = 0;
      for (const std::vector<std::uint64_t>& snapshot : snapshots) {
        movements.push_back(static_cast<double>(snapshot[counter] - before));
        before = snapshot[counter];
      }
    }
    ++counter;
  }
  return intervals;
}

ResultCheck interval_check(const Result& result) {
  double movements = 0, values = 0;
  for (const auto& [name, counter] : result.counters) {
    values += counter.value;
    const auto found = result.intervals.counters.find(name);
    if (found == result.intervals.counters.end()) continue;
    movements = std::accumulate(found->second.begin(), found->second.end(), movements);
  }
  return {"intervals: all movements of counters = their values at the end", movements, values};
}

}  // namespace fm
