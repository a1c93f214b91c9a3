#include "planner/layout/movement.hpp"

#include "planner/host_tensor.hpp"
#include "planner/node_attributes.hpp"

namespace fm {

std::vector<std::int64_t> constant_positions(const GraphTensor& tensor) {
  if (!tensor.constant || tensor.constant->initializer || is_real(tensor.type)) return {};
  return tensor_from_bytes(tensor.type, tensor.shape, tensor.constant->bytes.data(),
                           tensor.constant->bytes.size())
      .integers;
}

std::optional<IndexMap> movement_map(const Graph& graph, const GraphNode& node,
                                     const IndexMap& input) {
  const std::string& operation = node.operation;
  const Shape& shape = graph.tensors[node.outputs[0]].shape;
  if (operation == "Reshape" || operation == "Identity") return reshaped(input, shape);
  if (operation == "Transpose") return transposed(input, attribute_ints(node, "perm"));
  if (operation == "Expand") return expanded(input, shape);
  if (operation == "Slice") {
    return sliced(input, attribute_ints(node, "starts"), attribute_ints(node, "steps"), shape);
  }
  if (operation == "DepthToSpace") {
    return depth_to_space(input, attribute_int(node, "blocksize", 1),
                          attribute_word(node, "mode", "DCR") == "CRD");
  }
  if (operation == "SpaceToDepth") {
    return space_to_depth(input, attribute_int(node, "blocksize", 1));
  }
  if (operation != "Gather") return std::nullopt;
  const GraphTensor& indices = graph.tensors[node.inputs[1].value()];
  return taken(input, static_cast<std::size_t>(attribute_int(node, "axis", 0)),
               constant_positions(indices), indices.shape);
}

}  // namespace fm
