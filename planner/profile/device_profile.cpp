#include "planner/profile/device_profile.hpp"

#include "planner/profile/convex_fit.hpp"
#include "planner/profile/launch_signature.hpp"
#include "planner/profile/learnt_profile.hpp"

namespace fm {

LaunchProfile launch_profile(const ProfileEntry& entry, const ClassMargins& margins) {
  const OperatorClass its_class = operator_class(entry.kernel);
  return {its_class, entry.time, convex_fit(slowdown_points(entry.points, entry.time)),
          entry.points, margins.of(its_class)};
}

std::vector<LaunchProfile> launch_profiles(const Plan& plan, const DeviceProfile& profile,
                                           const std::vector<DeviceProfile>& others) {
  LearntProfiles learnt(profile, others);
  std::map<std::string, LaunchProfile> known;
  std::vector<LaunchProfile> profiles;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind == LaunchKind::copy) {
      profiles.emplace_back();
      continue;
    }
    const std::string signature = launch_signature(plan, launch);
    auto found = known.find(signature);
    if (found == known.end()) {
      const auto measured = profile.entries.find(signature);
      found =
          known
              .emplace(signature, measured != profile.entries.end()
                                      ? launch_profile(measured->second, profile.margins.measured)
                                      : learnt.all_of(plan, launch))
              .first;
    }
    profiles.push_back(found->second);
  }
  return profiles;
}

}  // namespace fm
