#pragma once
// Reading a node's attributes with their defaults.

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph.hpp"

namespace fm {

// Each returns `fallback` when the node has no such attribute of that type.
std::int64_t attribute_int(const GraphNode& node, const std::string& key, std::int64_t fallback);
float attribute_float(const GraphNode& node, const std::string& key, float fallback);
std::string attribute_word(const GraphNode& node, const std::string& key,
                           const std::string& fallback);
std::vector<std::int64_t> attribute_ints(const GraphNode& node, const std::string& key,
                                         const std::vector<std::int64_t>& fallback = {});

}  // namespace fm
