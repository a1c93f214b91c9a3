#pragma once
// Plans by a policy that knows what launches cost, with fusion fixed or decided with the schedule.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/overlap/adaptive_fusion.hpp"
#include "planner/overlap/lc_opg_policy.hpp"
#include "planner/overlap/optimal_policy.hpp"
#include "planner/overlap/weight_placement.hpp"
#include "planner/plan_draft.hpp"
#include "planner/profile/launch_profiles.hpp"

namespace fm {

class OverlapPlanner {
 public:
  /// As make_overlap_plans(). `config` must outlive the planner.
  OverlapPlanner(ImportedModel imported, const DeviceConfig& config, const PlanOptions& options,
                 const std::optional<std::string>& profile, const OverlapRequest& request,
                 const std::optional<LcOpgRequest>& lc_opg);

  std::vector<OverlapPlan> plans() const;

 private:
  struct PricedDraft;  // a draft, what its launches cost, and the model made of both
  struct Adaptation;

  /// What the launches of a draft with these nodes unfused take.
  LaunchProfiles profiles_of(const Plan& plan, const UnfusedNodes& unfused) const;
  std::unique_ptr<PricedDraft> priced(const UnfusedNodes& unfused) const;
  PricedPlan placed(Plan plan, const LaunchProfiles& profiles, const DeviceCosts& costs,
                    const UnfusedNodes& unfused) const;
  std::vector<OverlapPlan> plans_with(const UnfusedNodes& unfused) const;
  std::vector<OverlapPlan> planned(const PricedDraft& draft, const OverlapRequest& request) const;
  OverlapPlan chosen(const PricedDraft& draft, Adaptation* adaptation) const;
  FusedSchedule schedule_of(const UnfusedNodes& unfused, Adaptation* adaptation) const;
  std::vector<OverlapPlan> adapted() const;
  std::vector<FusionSplit> splits_of(const PricedDraft& draft, const UnfusedNodes& unfused) const;
  FusedSchedule lc_opg_schedule(const PricedDraft& draft, const UnfusedNodes& unfused) const;

  ImportedModel imported_;
  const DeviceConfig& config_;
  PlanOptions options_;
  std::optional<std::string> profile_;
  OverlapRequest request_;
  std::optional<LcOpgRequest> lc_opg_;
};

}  // namespace fm
