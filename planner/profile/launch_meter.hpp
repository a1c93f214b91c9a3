#pragma once
// Times of launches, simulated or measured, by fmexec and fmsim run as children.

#include <map>
#include <optional>
#include <string>

#include "planner/profile/profile_plan.hpp"
#include "planner/profile/work_folder.hpp"

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

/// Times the variants of a profile plan, when they are asked for. Simulated: the plan is recorded
/// once on any OpenCL device here, and each launch simulated with those that write its activations,
/// in caches that know what was touched before. Measured: all at once, of the median of some runs.
class LaunchMeter {
 public:
  /// `recordings`: a folder where recordings are looked for and kept; they serve all configs.
  /// The target must outlive the meter.
  LaunchMeter(const ProfileTarget& target, ProfilePlan profiled,
              const std::optional<std::string>& recordings);
  const ProfilePlan& profiled() const { return profiled_; }
  Nanoseconds time(std::size_t variant);

 private:
  void record();
  void write_inputs(const std::string& plan) const;
  void measure_all();

  const ProfileTarget& target_;
  ProfilePlan profiled_;
  std::optional<std::string> recordings_;
  WorkFolder folder_;
  std::string trace_;
  std::map<std::string, Nanoseconds> times_;  // by launch
};

}  // namespace fm
