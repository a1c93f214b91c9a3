#pragma once
// Load capacities measured: every launch of some plans, bare and with several amounts streamed
// inside (FlashMem section 4.2).

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/launch_meter.hpp"

namespace fm {

struct ProfileOptions {
  std::size_t jobs = 1;            ///< launches simulated side by side
  std::set<std::string> launches;  ///< ids; empty: all
  /// Folder of recordings, which serve every config; none: they are thrown away.
  std::optional<std::string> recordings;
};

/// Adds to `profile` the distinct launches of the plans that it lacks: their bare times and, for
/// kernels that may stream, three amounts around the one at which the class's allowed slowdown is
/// reached and a small one. Calls `save` after each. Returns how many launches were measured.
std::size_t profile_launches(const std::vector<Plan>& plans, const ProfileTarget& target,
                             const ProfileOptions& options, DeviceProfile* profile,
                             const std::function<void()>& save);

}  // namespace fm
