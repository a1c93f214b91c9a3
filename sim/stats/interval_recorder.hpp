#pragma once
// Counters over simulated time.

#include <cstdint>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// Takes a snapshot of every counter at each call of record(); what lies between two is an
/// interval. Blocks run ahead of simulation time by at most the lookahead (tens of nanoseconds), so
/// an event may be counted that much early.
class IntervalRecorder {
 public:
  /// `registry` outlives it; all counters are registered before the first record().
  explicit IntervalRecorder(const CounterRegistry& registry) : registry_(registry) {}

  /// An interval ends at `now`. Throws UserError past `most_intervals`: the result would be larger
  /// than anything can read.
  void record(Picoseconds now);
  /// Forgets what was recorded: times and counters are those since `now`.
  void restart(Picoseconds now);
  static constexpr std::size_t most_intervals = 50000;

  /// All intervals, the last one ending with the registry's present values.
  ResultIntervals intervals(Picoseconds length, Picoseconds now) const;

 private:
  const CounterRegistry& registry_;
  Picoseconds start_;
  std::vector<Picoseconds> ends_;  ///< since start_
  std::vector<std::vector<std::uint64_t>> snapshots_;
};

/// The law of intervals: the movements of each counter sum to its value.
ResultCheck interval_check(const Result& result);

}  // namespace fm
