// Nodes that change nothing, and chains of reshapes.
#include "planner/host_tensor.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

bool all_equal(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  for (std::int64_t value : values) {
    if (value != wanted) return false;
  }
  return true;
}

/// A transpose that only moves dimensions of one element is a reshape.
bool moves_only_ones(const GraphNode& node, const Shape& shape) {
  std::int64_t previous = -1;
  for (std::int64_t d : attribute_ints(node, "perm")) {
    if (shape[static_cast<std::size_t>(d)] == 1) continue;
    if (d < previous) return false;
    previous = d;
  }
  return true;
}

bool changes_nothing(GraphEditor* editor, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const bool same_shape = editor->shape(input) == editor->shape(output);
  if (node.operation == "Identity" || (node.operation == "Concat" && node.inputs.size() == 1)) {
    return true;
  }
  if (node.operation == "Cast") return true;  // those that change values have other names
  if (node.operation == "Reshape" || node.operation == "Expand") return same_shape;
  if (node.operation == "Pad") return same_shape;
  if (node.operation == "Slice") {
    return same_shape && all_equal(attribute_ints(node, "steps"), 1);
  }
  return false;
}

}  // namespace

void remove_identities(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    GraphNode& node = editor->node(i);
    if (node.operation.empty()) continue;
    if (node.operation == "Transpose" &&
        moves_only_ones(node, editor->shape(node.inputs[0].value()))) {
      node.operation = "Reshape";
      node.attributes.clear();
    }
    if (node.operation == "Reshape") {
      // The reshape of a reshape needs only the last shape.
      while (const auto before = editor->producer(node.inputs[0], "Reshape")) {
        editor->set_input(i, 0, editor->node(*before).inputs[0].value());
      }
    }
    if (node.inputs.empty() || !node.inputs[0] || !changes_nothing(editor, node)) continue;
    if (editor->is_output(node.outputs[0])) {
      node.operation = "Identity";  // the output keeps its name
      node.attributes.clear();
      continue;
    }
    const TensorIndex from = node.outputs[0], to = node.inputs[0].value();
    editor->remove(i);
    editor->replace_reads(from, to);
  }
  editor->finish();
}

}  // namespace fm
