#include "planner/profile/device_profile.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/diagnostics.hpp"
#include "planner/profile/convex_fit.hpp"
#include "planner/profile/launch_features.hpp"
#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

/// Most bytes a nanosecond of bare time that launches of a class were profiled with.
double profiled_rate(const DeviceProfile& profile, OperatorClass wanted) {
  double rate = 0;
  for (const auto& [signature, entry] : profile.entries) {
    if (operator_class(entry.kernel) != wanted) continue;
    for (const SlowdownPoint& point : entry.points) {
      rate = std::max(rate, static_cast<double>(point.streamed.count()) /
                                static_cast<double>(entry.time.count()));
    }
  }
  return rate;
}

LaunchProfile learnt_profile(const Plan& plan, const PlanLaunch& launch,
                             const DeviceProfile& profile, const SlowdownModel& model) {
  const std::vector<float> features = launch_features(plan, launch);
  LaunchProfile learnt;
  learnt.operator_class = operator_class(launch.kernel);
  learnt.time = model.time(features);
  if (learnt.operator_class == OperatorClass::hierarchical) return learnt;
  const double most =
      profiled_rate(profile, learnt.operator_class) * static_cast<double>(learnt.time.count());
  if (most >= 1) {
    learnt.slowdown = model.slowdown(features, learnt.time,
                                     Bytes(static_cast<std::uint64_t>(std::llround(most))));
  }
  return learnt;
}

}  // namespace

LaunchProfile launch_profile(const ProfileEntry& entry) {
  return {operator_class(entry.kernel), entry.time, convex_fit(entry.points)};
}

std::vector<LaunchProfile> launch_profiles(const Plan& plan, const DeviceProfile& profile,
                                           const std::string& device) {
  if (profile.device != device) {
    throw UserError("the profile is of device '" + profile.device + "', not of '" + device +
                    "': profile that one with fmplan profile");
  }
  std::optional<SlowdownModel> model;  // made when first needed
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
      if (measured == profile.entries.end() && !model) {
        std::vector<const ProfileEntry*> entries;
        for (const auto& [key, entry] : profile.entries) entries.push_back(&entry);
        model.emplace(entries);
      }
      found = known
                  .emplace(signature, measured != profile.entries.end()
                                          ? launch_profile(measured->second)
                                          : learnt_profile(plan, launch, profile, *model))
                  .first;
    }
    profiles.push_back(found->second);
  }
  return profiles;
}

}  // namespace fm
