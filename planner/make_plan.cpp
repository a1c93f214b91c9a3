#include "planner/make_plan.hpp"

#include <filesystem>

#include "core/version.hpp"
#include "kernels/catalogue.hpp"
#include "planner/activation_memory.hpp"
#include "planner/dependencies.hpp"
#include "planner/lowering.hpp"
#include "planner/passes/passes.hpp"

namespace fm {

ImportedModel import_and_fuse(const std::string& model_path, const ShapeBindings& bindings) {
  ImportedModel model = import_model(model_path, bindings);
  run_passes(&model.graph, &model.constants);
  return model;
}

Plan make_plan(const std::string& model_path, const DeviceConfig& config,
               const PlanOptions& options) {
  ImportedModel model = import_and_fuse(model_path, options.bindings);
  const PlacementRule rule = PlacementRule::for_device(options.placement, config);
  split_large_weights(&model.graph, rule);
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
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    plan.launches[i].id = "L" + std::to_string(i);
  }
  set_uses(&plan);
  list_weights(&plan);
  apply_policy(options.policy, options.ring, &plan);
  assign_pools(&plan);
  set_dependencies(&plan);
  set_claims(&plan);
  validate(plan);
  validate_launches(plan);
  return plan;
}

}  // namespace fm
