#pragma once
// Every counter of the simulator: name, unit, meaning. Blocks count in plain integers and register
// where they are.

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
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
      cells;                 ///< one a block that counts it; the counter is their sum
  std::uint64_t before = 0;  ///< of the sum, not counted
};

class CounterRegistry {
 public:
  /// `cell` must outlive the registry. A second registration of a name adds a cell; unit and
  /// description must agree.
  void add(const std::string& name, const std::string& unit, const std::string& description,
           const std::uint64_t* cell);
  /// Counts that laws compare, whether or not a counter shows them: all members of `counts`, which
  /// are 64-bit counts and nothing else. Sampling extrapolates them with the counters.
  template <class Counts>
  void follow(const Counts& counts) {
    static_assert(std::is_trivially_copyable_v<Counts> &&
                  sizeof(Counts) % sizeof(std::uint64_t) == 0 &&
                  alignof(Counts) == alignof(std::uint64_t));
    const auto* first = reinterpret_cast<const std::uint64_t*>(&counts);
    for (std::size_t i = 0; i < sizeof(Counts) / sizeof(std::uint64_t); ++i) {
      followed_.push_back(first + i);
    }
  }
  const std::vector<const std::uint64_t*>& followed() const { return followed_; }
  /// Values count from now on; cells, which the laws compare, are left as they are.
  void count_from_here();
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
  std::vector<const std::uint64_t*> followed_;
};

}  // namespace fm
