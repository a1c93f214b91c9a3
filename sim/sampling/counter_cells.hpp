#pragma once
// All counts that grow with work, as one vector that can be read, subtracted and added to.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/stats/counter_registry.hpp"

namespace fm {

/// Every conservation law is linear in these cells, so what moved between two moments with nothing
/// in flight may be added again, any whole number of times, and all laws still hold.
class CounterCells {
 public:
  /// What moved, by cell. Differences wrap: they may be negative.
  using Moves = std::vector<std::uint64_t>;

  /// All counters and followed counts of `registry`, which outlives it, once all have registered;
  /// without those of the host side and those that grow with time alone, which are never sampled.
  explicit CounterCells(const CounterRegistry& registry);

  Moves now() const;
  /// What moved since `before`, to be added again: rows that were left open count as closed, as
  /// each further time closes them.
  Moves since(const Moves& before) const;
  /// As if `moves` had happened so many times more, or less.
  void add(const Moves& moves, std::int64_t times = 1);
  /// By how much the counter `name` moved. Throws std::out_of_range for an unknown name.
  std::uint64_t of(const std::string& name, const Moves& moves) const;

 private:
  const CounterRegistry& registry_;
  std::vector<std::uint64_t*> cells_;  ///< ascending
  /// By DRAM channel: where its rows opened and its rows closed are in cells_.
  std::vector<std::pair<std::size_t, std::size_t>> rows_;
};

}  // namespace fm
