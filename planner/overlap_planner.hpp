#pragma once
// Plans by a policy that knows what launches cost, with fusion fixed or decided with the schedule.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/overlap/adaptive_fusion.hpp"
#include "planner/overlap/lc_opg_policy.hpp"
#include "planner/overlap/optimal_policy.hpp"
#include "planner/priced_draft.hpp"

namespace fm {

class OverlapPlanner {
 public:
  /// As make_overlap_plans(). `config` must outlive the planner.
  OverlapPlanner(ImportedModel imported, const DeviceConfig& config, const PlanOptions& options,
                 const ProfileFiles& profile, const OverlapRequest& request,
                 const std::optional<LcOpgRequest>& lc_opg);

  std::vector<OverlapPlan> plans() const;

 private:
  struct ModelledDraft;  // a priced draft and the model made of it
  struct Adaptation;

  std::unique_ptr<ModelledDraft> priced(const UnfusedNodes& unfused) const;
  std::vector<OverlapPlan> plans_with(const UnfusedNodes& unfused) const;
  std::vector<OverlapPlan> planned(const ModelledDraft& draft, const OverlapRequest& request) const;
  OverlapPlan chosen(const ModelledDraft& draft, Adaptation* adaptation) const;
  FusedSchedule schedule_of(const UnfusedNodes& unfused, Adaptation* adaptation) const;
  std::vector<OverlapPlan> adapted() const;
  std::vector<FusionSplit> splits_of(const ModelledDraft& draft, const UnfusedNodes& unfused) const;
  FusedSchedule lc_opg_schedule(const ModelledDraft& draft, const UnfusedNodes& unfused) const;

  ImportedModel imported_;
  const DeviceConfig& config_;
  PlanOptions options_;
  ProfileFiles profile_;
  OverlapRequest request_;
  std::optional<LcOpgRequest> lc_opg_;
};

}  // namespace fm
