#include "planner/node_context.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"
#include "planner/node_attributes.hpp"

namespace fm {

void NodeContext::refuse(const std::string& why) const {
  throw UserError("node `" + node.name + "` (" + node.operation + ", opset " +
                  std::to_string(opset()) + "): " + why);
}

const GraphTensor& NodeContext::tensor(std::size_t input) const {
  if (!has(input)) refuse("input " + std::to_string(input) + " is missing");
  return graph_.tensors[*node.inputs[input]];
}

std::vector<std::int64_t> NodeContext::constant_ints(std::size_t input) const {
  const GraphTensor& given = tensor(input);
  if (!given.constant) {
    refuse("input `" + given.name +
           "` must be a constant, as its value decides a shape: plan for it with --value " +
           given.name + "=N,N,..");
  }
  return constants_.load(given).integers;
}

std::vector<float> NodeContext::constant_reals(std::size_t input) const {
  const GraphTensor& given = tensor(input);
  if (!given.constant)
    refuse("input `" + given.name + "` must be a constant: plan for it with --value " + given.name +
           "=N,N,..");
  return constants_.load(given).reals;
}

std::int64_t NodeContext::constant_int(std::size_t input) const {
  const std::vector<std::int64_t> values = constant_ints(input);
  if (values.size() != 1) refuse("input `" + tensor(input).name + "` must be one whole number");
  return values[0];
}

float NodeContext::constant_real(std::size_t input) const {
  const std::vector<float> values = constant_reals(input);
  if (values.size() != 1) refuse("input `" + tensor(input).name + "` must be one real number");
  return values[0];
}

std::vector<std::int64_t> NodeContext::ints(const std::string& key, std::size_t input,
                                            const std::vector<std::int64_t>& fallback) const {
  if (node.attributes.count(key) != 0) return attribute_ints(node, key, fallback);
  return has(input) ? constant_ints(input) : fallback;
}

std::int64_t NodeContext::axis(std::int64_t given, std::int64_t rank) const {
  const std::int64_t wrapped = given < 0 ? given + rank : given;
  if (wrapped < 0 || wrapped >= rank) {
    refuse("axis " + std::to_string(given) + " is outside rank " + std::to_string(rank));
  }
  return wrapped;
}

std::vector<std::int64_t> NodeContext::axes(std::vector<std::int64_t> given,
                                            std::int64_t rank) const {
  for (std::int64_t& value : given) value = axis(value, rank);
  std::sort(given.begin(), given.end());
  if (std::adjacent_find(given.begin(), given.end()) != given.end()) {
    refuse("names an axis twice");
  }
  return given;
}

void NodeContext::require_rank(std::size_t input, std::int64_t wanted) const {
  if (rank(input) != wanted) {
    refuse("input " + std::to_string(input) + " has shape " + to_string(shape(input)) +
           ", but rank " + std::to_string(wanted) + " is supported");
  }
}

}  // namespace fm
