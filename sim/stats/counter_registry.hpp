#pragma once
// Every counter of the simulator: name, unit, meaning. Blocks count in plain integers and register
// where they are.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace fm {

/// Names follow the vendors' counters where one exists (Arm libGPUCounters, Adreno performance
/// counters); the description then says which.
struct CounterEntry {
  std::string name;  ///< "l2.read_lookups"
  std::string unit;  ///< "lines", "cycles", "bytes", ...
  std::string description;
  std::vector<const std::uint64_t*>
      cells;  ///< one a block that counts it; the counter is their sum
};

class CounterRegistry {
 public:
  /// `cell` must outlive the registry. A second registration of a name adds a cell; unit and
  /// description must agree.
  void add(const std::string& name, const std::string& unit, const std::string& description,
           const std::uint64_t* cell);
  /// Sum over the cells. Throws std::out_of_range for an unknown name.
  std::uint64_t value(const std::string& name) const;
  const std::map<std::string, CounterEntry>& entries() const { return entries_; }
  /// All values, in the order of entries(): to be subtracted from a later one.
  std::vector<std::uint64_t> snapshot() const;
  std::map<std::string, ResultCounter> results() const;
  /// Sum of all counters of work: it rises while a simulation gets anywhere. Times, cycles and DRAM
  /// commands pass without.
  std::uint64_t work_done() const;

 private:
  std::map<std::string, CounterEntry> entries_;
};

}  // namespace fm
