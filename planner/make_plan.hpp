#pragma once
// The planner's whole way: model file -> graph -> launches -> plan.

#include <optional>
#include <string>
#include <vector>

#include "planner/overlap/lc_opg_policy.hpp"
#include "planner/overlap/optimal_policy.hpp"
#include "planner/plan_draft.hpp"
#include "planner/profile/launch_profiles.hpp"

namespace fm {

/// Imports the model and runs the graph passes; placement decides which weights are split.
/// The constants of the result are those that plan and `pack` name.
ImportedModel import_and_fuse(const std::string& model_path, const ShapeBindings& bindings);

/// A complete plan, validated. options.fusion: `fixed` or `none`. Throws UserError.
Plan make_plan(const std::string& model_path, const DeviceConfig& config,
               const PlanOptions& options);

/// The same by a policy that plans in time, instead of options.policy; launches in an order that
/// makes pools smaller, if there is one. `profile`: files of launch
/// times; `lc_opg`: by that policy instead of `optimal`. Fusion `adaptive` is
/// for one plan of least latency. Throws UserError.
std::vector<OverlapPlan> make_overlap_plans(const std::string& model_path,
                                            const DeviceConfig& config, const PlanOptions& options,
                                            const ProfileFiles& profile,
                                            const OverlapRequest& request,
                                            const std::optional<LcOpgRequest>& lc_opg = {});

}  // namespace fm
