#include "planner/make_plan.hpp"

#include <filesystem>

#include "core/version.hpp"
#include "kernels/catalogue.hpp"
#include "planner/activation_memory.hpp"
#include "planner/dependencies.hpp"
#include "planner/launch_order.hpp"
#include "planner/lowering.hpp"
#include "planner/overlap/weight_placement.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

/// Tensors and kernels, with ids.
Plan draft_plan(const std::string& model_path, const DeviceConfig& config,
                const PlanOptions& options) {
  ImportedModel model = import_and_fuse(model_path, options.bindings);
  const PlacementRule rule = PlacementRule::for_device(options.placement, config);
  split_large_weights(&model.graph, rule, options.storage);
  LoweredNetwork network = lower(model.graph, {options.storage, rule, options.eliminate});

  Plan plan;
  plan.generator = std::string("fmplan ") + version;
  const std::filesystem::path path(model_path);
  plan.models = {{path.stem().string(), path.filename().string(), model.digest, model.graph.opset}};
  plan.config = config.name();
  plan.storage = options.storage;
  plan.accumulate = options.accumulate;
  plan.chunk_bytes = default_chunk_bytes;
  plan.tensors = std::move(network.tensors);
  plan.launches = std::move(network.launches);
  plan.gathers = std::move(network.gathers);
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    plan.launches[i].id = "L" + std::to_string(i);
  }
  return plan;
}

/// Uses, weights and pools follow from the order of launches.
void place_tensors(Plan* plan) {
  set_uses(plan);
  for (WeightGather& gather : plan->gathers) {
    gather.release_after = plan->tensor(gather.tensor).last_use;
  }
  list_weights(plan);
  assign_pools(plan);
}

/// In the graph's order, or in another that makes the pools smaller.
void reorder_where_smaller(Plan* plan) {
  Plan reordered = *plan;
  const bool changed = reorder_launches(&reordered);
  place_tensors(plan);
  if (!changed) return;
  place_tensors(&reordered);
  if (pool_bytes(reordered) < pool_bytes(*plan)) *plan = std::move(reordered);
}

}  // namespace

ImportedModel import_and_fuse(const std::string& model_path, const ShapeBindings& bindings) {
  ImportedModel model = import_model(model_path, bindings);
  run_passes(&model.graph, &model.constants);
  return model;
}

Plan make_plan(const std::string& model_path, const DeviceConfig& config,
               const PlanOptions& options) {
  Plan plan = draft_plan(model_path, config, options);
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
  Plan draft = draft_plan(model_path, config, options);
  reorder_where_smaller(&draft);
  const LaunchProfiles profiles = launch_profiles(draft, config, profile);
  const DeviceCosts costs(config, profiles.copy_nanoseconds_per_byte);
  PricedPlan priced{std::move(draft), profiles.launches};
  if (profiles.by_signature && options.placement == PlacementPolicy::automatic && !lc_opg) {
    PlanOptions other = options;
    other.placement = PlacementPolicy::buffer_weights;
    Plan buffers = draft_plan(model_path, config, other);
    reorder_where_smaller(&buffers);
    std::vector<LaunchProfile> times = launch_profiles(buffers, config, profile).launches;
    priced = choose_weight_placement(priced, {std::move(buffers), std::move(times)}, costs);
    place_tensors(&priced.plan);
  }
  const OverlapModel model(priced.plan, priced.launches, costs);
  std::vector<OverlapPlan> plans;
  if (lc_opg) {
    plans.push_back(plan_lc_opg(model, costs, *lc_opg, request));
  } else {
    plans = plan_optimal(model, costs, request);
  }
  for (OverlapPlan& planned : plans) {
    planned.report.estimated = profiles.estimated;
    planned.report.profile = profiles.source;
    planned.report.carrying = carrying_launches(planned.plan, priced.plan, priced.launches);
    validate(planned.plan);
    validate_launches(planned.plan);
  }
  return plans;
}

}  // namespace fm
