#pragma once
// The planner's whole way: model file -> graph -> launches -> plan.

#include <optional>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "planner/onnx_import.hpp"
#include "planner/overlap/lc_opg_policy.hpp"
#include "planner/overlap/optimal_policy.hpp"
#include "planner/placement.hpp"
#include "planner/profile/launch_profiles.hpp"
#include "planner/streaming.hpp"

namespace fm {

struct PlanOptions {
  ShapeBindings bindings;
  StreamingPolicy policy = StreamingPolicy::preload;
  PlacementPolicy placement = PlacementPolicy::automatic;
  DataType storage = DataType::f16;
  DataType accumulate = DataType::f32;
  std::optional<Bytes> ring;
  bool eliminate = true;  ///< movement operators (LoweringOptions)
};

/// Imports the model and runs the graph passes; placement decides which weights are split.
/// The constants of the result are those that plan and `pack` name.
ImportedModel import_and_fuse(const std::string& model_path, const ShapeBindings& bindings);

/// A complete plan, validated. Throws UserError.
Plan make_plan(const std::string& model_path, const DeviceConfig& config,
               const PlanOptions& options);

/// The same by a policy that plans in time, instead of options.policy; launches in an order that
/// makes pools smaller, if there is one. `profile`: files of launch
/// times; `lc_opg`: by that policy instead of `optimal`. Throws UserError.
std::vector<OverlapPlan> make_overlap_plans(const std::string& model_path,
                                            const DeviceConfig& config, const PlanOptions& options,
                                            const ProfileFiles& profile,
                                            const OverlapRequest& request,
                                            const std::optional<LcOpgRequest>& lc_opg = {});

}  // namespace fm
