#pragma once
// What the launches of a plan cost: from a file, or estimated.

#include <optional>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

struct LaunchProfiles {
  std::vector<LaunchProfile> launches;  ///< by launch of the plan
  bool estimated = true;                ///< times are a roofline of the config
  std::string source;                   ///< the file, when not
  bool by_signature = false;            ///< of a device profile: other placements have prices too
  /// GPU time of copies to images by the byte, beyond each one's launch overhead, if the file has
  /// copies.
  std::optional<double> copy_nanoseconds_per_byte;
};

struct ProfileFiles {
  std::optional<std::string> file;      ///< of the device; none: learnt or estimated
  std::vector<std::string> learn_from;  ///< profiles of other devices; with a run, of any
};

/// `plan`: kernels only. `files.file`: a profile written by `fmplan profile` (device_profile.hpp),
/// or a result.json of fmsim or fmexec, whose launches of the same ids and kernels give the times,
/// with slowdowns learnt from `files.learn_from`, or estimated; none: both learnt, or estimated.
/// Slowdowns end at the load capacity; launches whose kernels cannot carry streams have none.
/// Throws UserError when the file cannot be read or is of another plan or device.
LaunchProfiles launch_profiles(const Plan& plan, const DeviceConfig& config,
                               const ProfileFiles& files);

/// The same from a result.json, `files.file`, of a run of `timed`: another plan of the same
/// network. A launch that has the signature of one that ran takes as long; others are estimated,
/// corrected by how far off the estimates of the kernel's launches are that ran (of all, for a
/// kernel that did not run).
LaunchProfiles launch_profiles_from_run(const Plan& plan, const DeviceConfig& config,
                                        const ProfileFiles& files, const Plan& timed);

/// Whether launch_profiles() takes `file` for a result.json instead of a device profile.
bool is_run_result(const std::string& file);

}  // namespace fm
