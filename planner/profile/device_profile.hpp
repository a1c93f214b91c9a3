#pragma once
// The profile of a device: what launches take there, bare and with bytes streamed inside. A file,
// written by `fmplan profile`, read by the planner.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

/// One measured launch.
struct ProfileEntry {
  std::string kernel;
  Nanoseconds time;                   ///< bare
  std::vector<SlowdownPoint> points;  ///< as measured; empty for launches that cannot stream
  std::vector<float> features;        ///< launch_features() of the bare launch
};
LaunchProfile launch_profile(const ProfileEntry& entry);

struct DeviceProfile {
  std::string device;                           ///< config name, or name of an OpenCL device
  std::string measured_by;                      ///< "fmsim 0.1.0"
  std::map<std::string, ProfileEntry> entries;  ///< by launch_signature()
};

/// Throws UserError with file:line:column.
DeviceProfile read_profile(const std::string& path);
DeviceProfile parse_profile(const std::string& yaml, const std::string& file_name);
/// Deterministic; parse_profile(to_yaml(p)) == p.
std::string to_yaml(const DeviceProfile& profile);

/// What each launch of a plan takes: as profiled, or, for a signature that was not, as learnt from
/// those that were (SlowdownModel). Copies take no time here. Throws UserError when the profile is
/// of another device than `device`, or has too few entries to learn what it lacks.
std::vector<LaunchProfile> launch_profiles(const Plan& plan, const DeviceProfile& profile,
                                           const std::string& device);

}  // namespace fm
