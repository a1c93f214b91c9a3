#pragma once
// From an imported model to launches and pools, before anything is decided about when weights come.

#include <optional>
#include <vector>

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "kernels/tile_file.hpp"
#include "planner/onnx_import.hpp"
#include "planner/passes/passes.hpp"
#include "planner/placement.hpp"
#include "planner/queue/queue_place.hpp"
#include "planner/streaming.hpp"

namespace fm {

/// What becomes of activations and additions behind an operator that could compute them too.
enum class FusionMode {
  fixed,     ///< all are fused
  adaptive,  ///< those are not that cost the schedule more than they save (adapt_fusion)
  none       ///< none is: launches that `adaptive` may choose, to profile them
};
/// "fixed", "adaptive" or "none"; throws UserError otherwise.
FusionMode fusion_mode_from(const std::string& word);

struct PlanOptions {
  ShapeBindings bindings;
  StreamingPolicy policy = StreamingPolicy::preload;
  PlacementPolicy placement = PlacementPolicy::automatic;
  DataType storage = DataType::f16;
  DataType accumulate = DataType::f32;
  std::optional<Bytes> ring;
  bool eliminate = true;  ///< movement operators (LoweringOptions)
  FusionMode fusion = FusionMode::fixed;
  bool fused_attention = true;  ///< one launch without a matrix of scores in memory
  WeightSlices slices = WeightSlices::small;
  double alpha = 0.1;  ///< adaptive: capacity that a split must gain, as a share
  std::optional<QueuePlace> queued;
  TileFile tiles;  ///< measured ones, before those for the config
};

struct PlanDraft {
  Plan plan;  ///< tensors and kernels, with ids "L0", ..; place_tensors() is left to be done
  std::vector<EpilogueSplit> splits;  ///< fused operators that could be two
};

/// `imported`: of import_model(). `unfused` stays apart, and is named in the plan. Throws
/// UserError.
PlanDraft draft_plan(const ImportedModel& imported, const DeviceConfig& config,
                     const PlanOptions& options, const UnfusedNodes& unfused);

/// Every node that epilogue_splits() offers, until it offers none.
UnfusedNodes all_apart(const ImportedModel& imported);

/// Uses, weights and pools follow from the order of launches.
void place_tensors(Plan* plan);
/// In the graph's order, or in another that makes the pools smaller; places tensors.
void reorder_where_smaller(Plan* plan);

}  // namespace fm
