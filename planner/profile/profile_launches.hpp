#pragma once
// Load capacities measured: every launch of some plans, bare and with several amounts streamed
// inside (FlashMem section 4.2).

#include <vector>

#include "core/plan.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/launch_meter.hpp"

namespace fm {

/// Adds to `profile` the distinct launches of the plans that it lacks: their bare times and, for
/// kernels that may stream, four amounts around the one at which the class's allowed slowdown is
/// reached. Returns how many launches were measured.
std::size_t profile_launches(const std::vector<Plan>& plans, const ProfileTarget& target,
                             std::size_t jobs, DeviceProfile* profile);

}  // namespace fm
