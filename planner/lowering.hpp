#pragma once
// From the graph to placed tensors and launches: layouts, moves between them, one builder call a
// node.

#include <map>
#include <string>
#include <vector>

#include "core/graph.hpp"
#include "core/plan.hpp"
#include "planner/placement.hpp"

namespace fm {

struct LoweringOptions {
  DataType storage = DataType::f16;
  PlacementRule placement;
  /// Movement operators become index functions of the kernels around them; off: views whose
  /// elements a move launch brings together where strides or storage do not serve a reader.
  bool eliminate = true;
};

/// Tensors without pools, launches with ids and without dependencies.
struct LoweredNetwork {
  std::vector<PlanTensor> tensors;
  std::vector<PlanLaunch> launches;
  std::vector<WeightGather> gathers;  ///< without release_after
};

/// Throws UserError naming the node whose operator, shape or layout no kernel serves.
LoweredNetwork lower(const Graph& graph, const LoweringOptions& options);

/// The tensors that live in `channels` layout: those of convolutions, pooling and resizing, and
/// what elementwise operators join to them. All others live in `rows`.
std::vector<Layout> preferred_layouts(const Graph& graph);

}  // namespace fm
