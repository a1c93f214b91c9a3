#pragma once
// What moved during one launch, and what bounded it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/gpu/gpu.hpp"
#include "sim/gpu/shader_core.hpp"

namespace fm {

/// Shares of a launch's time that each resource was busy at its peak rate, 0 to 1.
struct Utilisation {
  double dram = 0, l2 = 0, texture = 0, alu = 0, load_store = 0, local = 0, launch = 0;
};

/// The one thing that bounds a launch. `launch`: its overhead is the longer part of it. Else the
/// resource that is busiest, when it is busy for more than 60 % of the time after the overhead;
/// else `latency`: nothing is saturated, waves wait for answers. A busy load/store unit counts as
/// `local` when most of its accesses are to local memory.
std::string bound_of(const Utilisation& utilisation);

/// Snapshots every counter at a launch's start and end.
class LaunchAccounts {
 public:
  LaunchAccounts(MemorySystem& memory, CounterRegistry& registry,
                 const std::vector<std::unique_ptr<ShaderCore>>& cores);
  void begin();
  /// `report` has its times.
  void end(Ticks overhead, GpuLaunchReport* report);

 private:
  struct Totals {
    std::uint64_t slots = 0, busy = 0;
    std::array<std::uint64_t, stall_cause_count> stalls{};
    std::uint64_t arithmetic_cycles = 0, texture_cycles = 0, load_store_cycles = 0,
                  local_cycles = 0;
    std::uint64_t local_lookups = 0, load_store_lookups = 0;
    std::uint64_t l2_ticks = 0, dram_bytes = 0;
  };
  Totals totals() const;
  Utilisation shares(const Totals& from, const Totals& to, Ticks elapsed) const;

  MemorySystem& memory_;
  CounterRegistry& registry_;
  const std::vector<std::unique_ptr<ShaderCore>>& cores_;
  Totals begin_;
  std::vector<std::uint64_t> counters_;
};

}  // namespace fm
