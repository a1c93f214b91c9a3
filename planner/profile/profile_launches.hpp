#pragma once
// Load capacities measured: every launch of some plans, bare and with several amounts streamed
// inside (FlashMem section 4.2).

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/launch_meter.hpp"

namespace fm {

struct ProfileOptions {
  std::size_t jobs = 1;            ///< simulations side by side
  std::set<std::string> launches;  ///< ids; empty: all
};

/// Adds to `profile` the distinct launches of the plans that it lacks: their bare times and, for
/// kernels that may stream, three amounts around the one at which the class's allowed slowdown is
/// reached. Calls `save` after each. Returns how many launches were measured.
std::size_t profile_launches(const std::vector<Plan>& plans, const ProfileTarget& target,
                             const ProfileOptions& options, DeviceProfile* profile,
                             const std::function<void()>& save);

}  // namespace fm
