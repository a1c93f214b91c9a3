#include "planner/profile/learnt_profile.hpp"

#include <cmath>

#include "planner/profile/convex_fit.hpp"

namespace fm {
namespace {

/// How far a learnt curve goes: streaming so much takes so many times the allowed slowdown alone.
constexpr double learnt_reach = 2;

LaunchProfile with_learnt_slowdown(const SlowdownModel& model, const LaunchFacts& facts,
                                   Nanoseconds time, const ClassMargins& margins) {
  LaunchProfile learnt;
  learnt.operator_class = operator_class(facts.kernel);
  learnt.time = time;
  if (learnt.operator_class == OperatorClass::hierarchical) return learnt;
  learnt.margin = margins.of(learnt.operator_class);
  const double allowed =
      allowed_slowdown(learnt.operator_class) * static_cast<double>(time.count());
  const double a_mebibyte = streaming_alone(facts, Bytes(1 << 20));
  const double most = learnt_reach * allowed / a_mebibyte * (1 << 20);
  if (most >= 1) {
    learnt.points =
        model.points(facts, time, Bytes(static_cast<std::uint64_t>(std::llround(most))));
    learnt.slowdown = convex_fit(slowdown_points(learnt.points, time));
  }
  return learnt;
}

}  // namespace

LaunchProfile LearntProfiles::all_of(const Plan& plan, const PlanLaunch& launch) {
  const LaunchNumbers numbers = launch_numbers(plan, launch);
  const LaunchFacts facts{launch.kernel, numbers, profile_.rates};
  return with_learnt_slowdown(model(), facts, model().time(facts), margins().learnt);
}

LaunchProfile LearntProfiles::slowdown_of(const Plan& plan, const PlanLaunch& launch,
                                          Nanoseconds time) {
  const LaunchNumbers numbers = launch_numbers(plan, launch);
  const LaunchFacts facts{launch.kernel, numbers, profile_.rates};
  return with_learnt_slowdown(model(), facts, time, margins().bare_known);
}

const SlowdownModel& LearntProfiles::model() {
  if (model_) return *model_;
  std::vector<LearntLaunch> learnt = launches_of(profile_);
  for (const DeviceProfile& other : others_) {
    const std::vector<LearntLaunch> more = launches_of(other);
    learnt.insert(learnt.end(), more.begin(), more.end());
  }
  model_ = std::make_unique<SlowdownModel>(learnt);
  return *model_;
}

/// The device's own; of a device that was not profiled, the widest of those learnt from.
CapacityMargins LearntProfiles::margins() const {
  if (!profile_.entries.empty()) return profile_.margins;
  CapacityMargins all;
  for (const DeviceProfile& other : others_) all = widest(all, other.margins);
  return all;
}

}  // namespace fm
