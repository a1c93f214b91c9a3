#include "sim/sampling/counter_cells.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace fm {
namespace {

/// Launches and copies, reads and refreshes happen one by one in a sampled run too.
bool never_sampled(const std::string& counter) {
  static const std::set<std::string> names = {"gpu.launches", "gpu.launch_overhead",
                                              "dram.refreshes"};
  const auto begins = [&](const char* prefix) { return counter.rfind(prefix, 0) == 0; };
  return names.count(counter) != 0 || begins("storage.") || begins("copy.") || begins("host.");
}

}  // namespace

CounterCells::CounterCells(const CounterRegistry& registry) : registry_(registry) {
  const auto before = std::less<const std::uint64_t*>();
  std::vector<const std::uint64_t*> cells = registry.followed();
  std::set<const std::uint64_t*, std::less<>> left_out;
  for (const auto& [name, entry] : registry.entries()) {
    cells.insert(cells.end(), entry.cells.begin(), entry.cells.end());
    if (never_sampled(name)) left_out.insert(entry.cells.begin(), entry.cells.end());
  }
  std::sort(cells.begin(), cells.end(), before);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  for (const std::uint64_t* cell : cells) {
    // Blocks own their counts and show them as constants; nobody but sampling adds to them.
    if (left_out.count(cell) == 0) cells_.push_back(const_cast<std::uint64_t*>(cell));
  }
  const auto opened = registry.entries().find("dram.activations");
  const auto closed = registry.entries().find("dram.precharges");
  if (opened == registry.entries().end() || closed == registry.entries().end()) return;
  const auto index = [&](const std::uint64_t* cell) {
    return static_cast<std::size_t>(std::lower_bound(cells_.begin(), cells_.end(), cell, before) -
                                    cells_.begin());
  };
  for (std::size_t i = 0; i < opened->second.cells.size(); ++i) {
    rows_.emplace_back(index(opened->second.cells[i]), index(closed->second.cells[i]));
  }
}

CounterCells::Moves CounterCells::now() const {
  Moves values;
  values.reserve(cells_.size());
  for (const std::uint64_t* cell : cells_) values.push_back(*cell);
  return values;
}

CounterCells::Moves CounterCells::since(const Moves& before) const {
  Moves moves = now();
  for (std::size_t i = 0; i < moves.size(); ++i) moves[i] -= before[i];
  for (const auto& [opened, closed] : rows_) moves[closed] = moves[opened];
  return moves;
}

void CounterCells::add(const Moves& moves, std::int64_t times) {
  const auto factor = static_cast<std::uint64_t>(times);
  for (std::size_t i = 0; i < moves.size(); ++i) *cells_[i] += moves[i] * factor;
}

std::uint64_t CounterCells::of(const std::string& name, const Moves& moves) const {
  std::uint64_t sum = 0;
  for (const std::uint64_t* cell : registry_.entries().at(name).cells) {
    const auto found =
        std::lower_bound(cells_.begin(), cells_.end(), cell, std::less<const std::uint64_t*>());
    if (found != cells_.end() && *found == cell) {
      sum += moves[static_cast<std::size_t>(found - cells_.begin())];
    }
  }
  return sum;
}

}  // namespace fm
