#pragma once
// The planner's whole way: model file -> graph -> launches -> plan.

#include <optional>
#include <string>

#include "core/device_config.hpp"
#include "core/plan.hpp"
#include "planner/onnx_import.hpp"
#include "planner/placement.hpp"
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

}  // namespace fm
