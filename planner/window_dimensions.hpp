#pragma once
// Windows with fewer or more dimensions than the two that kernels slide along.

#include <map>
#include <string>
#include <vector>

#include "planner/node_context.hpp"

namespace fm {

/// Refuses a node with a window (is_windowed) whose input, filter or attributes are of other ranks,
/// or so large that sums of their products overflow.
void check_window(const NodeContext& context);
bool is_windowed(const std::string& operation);

/// The attributes of a window with only these of its `rank` dimensions; -1: one element, step 1.
std::map<std::string, AttributeValue> window_of(const GraphNode& node, std::size_t rank,
                                                const std::vector<std::int64_t>& dimensions);

/// [.., width] as [.., 1, width].
Shape with_height(Shape shape);

}  // namespace fm
