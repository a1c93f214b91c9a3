#pragma once
// Launches in ranges of work-groups, none of which keeps the device longer than a cap: a GPU that
// draws a screen too, or whose driver ends what takes too long, gets its turn between them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/opencl_objects.hpp"

namespace fm {

/// A range of a launch's work-items: whole work-groups.
struct LaunchSlice {
  WorkSize offset{};
  WorkSize global{};
};
/// At most `count` of nearly equal size, along the dimension with the most work-groups; together
/// the whole launch.
std::vector<LaunchSlice> slices_of(WorkSize global, WorkSize local, std::uint64_t count);

/// How long a launch may keep the device. Not thread-safe.
class LaunchCap {
 public:
  /// The first estimates are for a slow device: two multiply-adds a cycle and compute unit.
  LaunchCap(Nanoseconds cap, const OpenClDevice& device);

  /// As many as keep each below the cap, by what the launch took before, else by the slowest of the
  /// long launches so far.
  std::vector<LaunchSlice> slices(const PlanLaunch& launch) const;
  void measured(const PlanLaunch& launch, std::uint64_t nanoseconds);

 private:
  const double cap_;                    // nanoseconds
  double rate_;                         // multiply-adds, or as much other work, a nanosecond
  std::map<std::string, double> took_;  // nanoseconds, by launch
};

/// 100 ms; none on CPUs, which give everybody a turn.
std::optional<Nanoseconds> default_launch_cap(const OpenClDevice& device);

}  // namespace fm
