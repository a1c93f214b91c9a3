#pragma once
// A draft whose tensors are placed, and what its launches cost.

#include <optional>
#include <string>
#include <vector>

#include "planner/overlap/weight_placement.hpp"
#include "planner/plan_draft.hpp"
#include "planner/profile/launch_profiles.hpp"

namespace fm {

struct PricedDraft {
  std::vector<EpilogueSplit> splits;  ///< fused operators that could be two
  LaunchProfiles profiles;            ///< where prices come from; its launches are the draft's
  PricedPlan priced;                  ///< placed
};

/// Launches in an order that makes pools smaller, if there is one. `profile`: files of launch times
/// (launch_profiles). `choose_placement`: with a device profile and placement auto, each weight
/// lies where it costs less. Throws UserError.
PricedDraft priced_draft(const ImportedModel& imported, const DeviceConfig& config,
                         const PlanOptions& options, const ProfileFiles& profile,
                         bool choose_placement, const UnfusedNodes& unfused = {});

}  // namespace fm
