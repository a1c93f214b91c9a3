#include "planner/window_dimensions.hpp"

#include "planner/node_attributes.hpp"

namespace fm {

using Ints = std::vector<std::int64_t>;

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
