#include "planner/make_plan.hpp"

#include "kernels/catalogue.hpp"
#include "planner/dependencies.hpp"
#include "planner/overlap_planner.hpp"

namespace fm {

ImportedModel import_and_fuse(const std::string& model_path, const ShapeBindings& bindings) {
  ImportedModel model = import_model(model_path, bindings);
  run_passes(&model.graph, &model.constants);
  return model;
}

Plan make_plan(const std::string& model_path, const DeviceConfig& config,
               const PlanOptions& options) {
  const ImportedModel imported = import_model(model_path, options.bindings);
  const bool apart = options.fusion == FusionMode::none;
  Plan plan =
      draft_plan(imported, config, options, apart ? all_apart(imported) : UnfusedNodes{}).plan;
  place_tensors(&plan);
  apply_policy(options.policy, options.ring, &plan);
  set_dependencies(&plan);
  set_claims(&plan);
  validate(plan);
  validate_launches(plan);
  return plan;
}

std::vector<OverlapPlan> make_overlap_plans(const std::string& model_path,
                                            const DeviceConfig& config, const PlanOptions& options,
                                            const ProfileFiles& profile,
                                            const OverlapRequest& request,
                                            const std::optional<LcOpgRequest>& lc_opg) {
  const OverlapPlanner planner(import_model(model_path, options.bindings), config, options, profile,
                               request, lc_opg);
  std::vector<OverlapPlan> plans = planner.plans();
  for (const OverlapPlan& planned : plans) {
    validate(planned.plan);
    validate_launches(planned.plan);
  }
  return plans;
}

}  // namespace fm
