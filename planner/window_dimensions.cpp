#include "planner/window_dimensions.hpp"

#include <set>

#include "planner/node_attributes.hpp"

namespace fm {

using Ints = std::vector<std::int64_t>;

namespace {

/// Of kernels, strides, dilations and pads.
constexpr std::int64_t largest_window = 1 << 24;

void check_setting(const NodeContext& context, const std::string& key, std::size_t count,
                   std::int64_t least) {
  const Ints values = attribute_ints(context.node, key);
  if (values.empty()) return;
  if (values.size() != count) {
    context.refuse(key + " must hold " + std::to_string(count) + " numbers, not " +
                   std::to_string(values.size()));
  }
  for (const std::int64_t value : values) {
    if (value >= least && value <= largest_window) continue;
    context.refuse(key + " must be " + std::to_string(least) + " to 2^24, not " +
                   std::to_string(value));
  }
}

}  // namespace

bool is_windowed(const std::string& operation) {
  static const std::set<std::string> operations{"Conv", "ConvTranspose", "MaxPool", "AveragePool"};
  return operations.count(operation) != 0;
}

void check_window(const NodeContext& context) {
  const std::size_t rank = context.shape(0).size();
  if (rank < 3) context.refuse("needs an input of rank 3 or more");
  const bool filtered =
      context.node.operation == "Conv" || context.node.operation == "ConvTranspose";
  if (filtered && context.shape(1).size() != rank) {
    context.refuse("its filter " + to_string(context.shape(1)) +
                   " has another rank than its input " + to_string(context.shape(0)));
  }
  check_setting(context, "kernel_shape", rank - 2, 1);
  check_setting(context, "strides", rank - 2, 1);
  check_setting(context, "dilations", rank - 2, 1);
  check_setting(context, "output_padding", rank - 2, 0);
  check_setting(context, "output_shape", rank - 2, 1);
  check_setting(context, "pads", 2 * (rank - 2), 0);
}

std::map<std::string, AttributeValue> window_of(const GraphNode& node, std::size_t rank,
                                                const Ints& dimensions) {
  std::map<std::string, AttributeValue> attributes = node.attributes;
  for (const auto& [key, fallback] : std::map<std::string, std::int64_t>{
           {"kernel_shape", 1}, {"strides", 1}, {"dilations", 1}, {"output_padding", 0}}) {
    const Ints given = attribute_ints(node, key);
    if (given.empty()) continue;
    Ints chosen;
    for (std::int64_t d : dimensions)
      chosen.push_back(d < 0 ? fallback : given.at(static_cast<std::size_t>(d)));
    attributes[key] = chosen;
  }
  const Ints pads = attribute_ints(node, "pads");
  if (pads.empty()) return attributes;
  Ints chosen;
  for (std::size_t side : {std::size_t{0}, rank}) {
    for (std::int64_t d : dimensions)
      chosen.push_back(d < 0 ? 0 : pads.at(side + static_cast<std::size_t>(d)));
  }
  attributes["pads"] = chosen;
  return attributes;
}

Shape with_height(Shape shape) {
  shape.insert(shape.end() - 1, 1);
  return shape;
}

}  // namespace fm
