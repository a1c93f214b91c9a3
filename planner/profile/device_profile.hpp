#pragma once
// The profile of a device: what launches take there, bare and with bytes streamed inside. A file,
// written by `fmplan profile`, read by the planner.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "planner/profile/capacity_margin.hpp"
#include "planner/profile/device_rates.hpp"
#include "planner/profile/launch_numbers.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

/// One measured launch.
struct ProfileEntry {
  std::string kernel;
  Nanoseconds time;                ///< bare
  std::vector<SlowedTime> points;  ///< as measured; empty for launches that cannot stream
  LaunchNumbers numbers;           ///< of the bare launch
};
LaunchProfile launch_profile(const ProfileEntry& entry, const ClassMargins& margins);

/// Relative errors of predicted times.
struct HeldOutErrors {
  std::size_t predictions = 0;
  double mean = 0, median = 0, ninth_decile = 0, largest = 0;
  double within_tenth = 0;  ///< share of predictions within 10 %
};
struct HeldOutResult {
  std::string what;  ///< "slowdown, shapes held out"
  HeldOutErrors errors;
};

struct DeviceProfile {
  std::string device;       ///< config name, or name of an OpenCL device
  std::string measured_by;  ///< "fmsim 0.1.0"
  DeviceRates rates;
  std::map<std::string, ProfileEntry> entries;  ///< by launch_signature()
  std::vector<HeldOutResult> held_out;          ///< how well times are predicted
  CapacityMargins margins;                      ///< from the same predictions
};

/// Throws UserError with file:line:column.
DeviceProfile read_profile(const std::string& path);
DeviceProfile parse_profile(const std::string& yaml, const std::string& file_name);
/// Deterministic; parse_profile(to_yaml(p)) == p.
std::string to_yaml(const DeviceProfile& profile);

/// What each launch of a plan takes: as profiled, or, for a signature that was not, as learnt
/// (SlowdownModel) from those that were and from the profiles of other devices. Copies take no time
/// here. Throws UserError for too few entries to learn from.
std::vector<LaunchProfile> launch_profiles(const Plan& plan, const DeviceProfile& profile,
                                           const std::vector<DeviceProfile>& others = {});

}  // namespace fm
