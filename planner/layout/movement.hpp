#pragma once
// Movement operators as index maps.

#include <optional>

#include "core/graph.hpp"
#include "planner/layout/index_map.hpp"

namespace fm {

/// Contents of a small constant of integers; empty for other tensors.
std::vector<std::int64_t> constant_positions(const GraphTensor& tensor);

/// What the node's output is of the elements under `input`, the map of its first input: Reshape,
/// Transpose, Slice, Expand, Identity, DepthToSpace, SpaceToDepth, and Gather at constant positions
/// equally far apart. nullopt for other operators.
std::optional<IndexMap> movement_map(const Graph& graph, const GraphNode& node,
                                     const IndexMap& input);

}  // namespace fm
