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
#include "planner/overlap/weight_placement.hpp"
#include "planner/placement.hpp"
#include "planner/profile/launch_profiles.hpp"
#include "planner/queue/queue_place.hpp"
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
  std::optional<QueuePlace> queued;
};

/// Imports the model and runs the graph passes; placement decides which weights are split.
/// The constants of the result are those that plan and `pack` name.
ImportedModel import_and_fuse(const std::string& model_path, const ShapeBindings& bindings);

/// Tensors and kernels with ids, in the graph's order; uses, weights and pools are left to
/// place_tensors(). Throws UserError.
Plan draft_plan(const std::string& model_path, const DeviceConfig& config,
                const PlanOptions& options);

/// Uses, weights and pools, which follow from the order of launches.
void place_tensors(Plan* plan);

struct PricedDraft {
  PricedPlan priced;        ///< placed
  LaunchProfiles profiles;  ///< where prices come from
};
/// A draft whose launches are in an order that makes pools smaller, if there is one, and what they
/// cost. `choose_placement`: with a device profile and placement auto, each weight lies where it
/// costs less. Throws UserError.
PricedDraft priced_draft(const std::string& model_path, const DeviceConfig& config,
                         const PlanOptions& options, const std::optional<std::string>& profile,
                         bool choose_placement);

/// A complete plan, validated. Throws UserError.
Plan make_plan(const std::string& model_path, const DeviceConfig& config,
               const PlanOptions& options);

/// The same by a policy that plans in time, instead of options.policy; launches in an order that
/// makes pools smaller, if there is one. `profile`: file of launch
/// times (launch_profiles); `lc_opg`: by that policy instead of `optimal`. Throws UserError.
std::vector<OverlapPlan> make_overlap_plans(const std::string& model_path,
                                            const DeviceConfig& config, const PlanOptions& options,
                                            const std::optional<std::string>& profile,
                                            const OverlapRequest& request,
                                            const std::optional<LcOpgRequest>& lc_opg = {});

}  // namespace fm
