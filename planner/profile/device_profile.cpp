#include "planner/profile/device_profile.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "planner/profile/convex_fit.hpp"
#include "planner/profile/launch_signature.hpp"
#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

/// How far a learnt curve goes: streaming so much takes so many times the allowed slowdown alone.
constexpr double learnt_reach = 2;

LaunchProfile learnt_profile(const Plan& plan, const PlanLaunch& launch,
                             const DeviceProfile& profile, const SlowdownModel& model) {
  const LaunchNumbers numbers = launch_numbers(plan, launch);
  const LaunchFacts facts{launch.kernel, numbers, profile.rates};
  LaunchProfile learnt;
  learnt.operator_class = operator_class(launch.kernel);
  learnt.time = model.time(facts);
  if (learnt.operator_class == OperatorClass::hierarchical) return learnt;
  const double allowed =
      allowed_slowdown(learnt.operator_class) * static_cast<double>(learnt.time.count());
  const double a_mebibyte = streaming_alone(facts, Bytes(1 << 20));
  const double most = learnt_reach * allowed / a_mebibyte * (1 << 20);
  if (most >= 1) {
    learnt.points =
        model.points(facts, learnt.time, Bytes(static_cast<std::uint64_t>(std::llround(most))));
    learnt.slowdown = convex_fit(slowdown_points(learnt.points, learnt.time));
  }
  return learnt;
}

}  // namespace

LaunchProfile launch_profile(const ProfileEntry& entry) {
  return {operator_class(entry.kernel), entry.time,
          convex_fit(slowdown_points(entry.points, entry.time)), entry.points};
}

std::vector<LaunchProfile> launch_profiles(const Plan& plan, const DeviceProfile& profile,
                                           const std::vector<DeviceProfile>& others) {
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
        std::vector<LearntLaunch> learnt = launches_of(profile);
        for (const DeviceProfile& other : others) {
          const std::vector<LearntLaunch> more = launches_of(other);
          learnt.insert(learnt.end(), more.begin(), more.end());
        }
        model.emplace(learnt);
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
