#pragma once
// Windows with fewer or more dimensions than the two that kernels slide along.

#include <map>
#include <string>
#include <vector>

#include "core/graph.hpp"

namespace fm {

/// The attributes of a window with only these of its `rank` dimensions; -1: one element, step 1.
std::map<std::string, AttributeValue> window_of(const GraphNode& node, std::size_t rank,
                                                const std::vector<std::int64_t>& dimensions);

/// [.., width] as [.., 1, width].
Shape with_height(Shape shape);

}  // namespace fm
