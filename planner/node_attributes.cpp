#include "planner/node_attributes.hpp"

namespace fm {
namespace {

template <class T>
T attribute_or(const GraphNode& node, const std::string& key, const T& fallback) {
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end()) return fallback;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : fallback;
}

}  // namespace

std::int64_t attribute_int(const GraphNode& node, const std::string& key, std::int64_t fallback) {
  return attribute_or(node, key, fallback);
}

float attribute_float(const GraphNode& node, const std::string& key, float fallback) {
  return attribute_or(node, key, fallback);
}

std::string attribute_word(const GraphNode& node, const std::string& key,
                           const std::string& fallback) {
  return attribute_or(node, key, fallback);
}

std::vector<std::int64_t> attribute_ints(const GraphNode& node, const std::string& key,
                                         const std::vector<std::int64_t>& fallback) {
  return attribute_or(node, key, fallback);
}

}  // namespace fm
