#pragma once
// Times of launches, simulated or measured, by fmexec and fmsim run as children.

#include <optional>
#include <string>
#include <vector>

#include "planner/profile/profile_plan.hpp"

namespace fm {

/// Where launches are timed.
struct ProfileTarget {
  bool simulated = false;
  std::string place;   ///< config file or name; index of an OpenCL device
  std::string device;  ///< name of config or OpenCL device: what a profile is kept under
  std::string tool;    ///< "fmsim 0.1.0"
};
/// "sim:CONFIG" or "device:N"; throws UserError otherwise, or when there is no such config or
/// device.
ProfileTarget profile_target(const std::string& text);

/// Time of each variant's launch. Simulated: recorded once on any OpenCL device here, then each
/// launch on its own, in caches that know what was touched before it, `jobs` side by side.
/// Measured: of the median of some runs.
std::vector<Nanoseconds> launch_times(const ProfileTarget& target, const ProfilePlan& profiled,
                                      std::size_t jobs);

}  // namespace fm
