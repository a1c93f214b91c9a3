#pragma once
// What launches that were not profiled take, learnt from those that were.

#include <memory>
#include <vector>

#include "core/plan.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/slowdown_model.hpp"

namespace fm {

class LearntProfiles {
 public:
  /// From the launches of `profile` and of other devices; `profile` gives the device's rates. They
  /// must outlive it. The model is made when first needed.
  LearntProfiles(const DeviceProfile& profile, const std::vector<DeviceProfile>& others)
      : profile_(profile), others_(others) {}

  /// Bare time and slowdown learnt. Throws UserError for too few launches to learn from.
  LaunchProfile all_of(const Plan& plan, const PlanLaunch& launch);
  /// The slowdown of a launch that takes `time` bare.
  LaunchProfile slowdown_of(const Plan& plan, const PlanLaunch& launch, Nanoseconds time);

 private:
  const SlowdownModel& model();
  CapacityMargins margins() const;

  const DeviceProfile& profile_;
  const std::vector<DeviceProfile>& others_;
  std::unique_ptr<SlowdownModel> model_;
};

}  // namespace fm
