// (x - mean) / sqrt(var + epsilon) * scale + shift, as exporters before opset 17 write it.
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

/// Axes are the trailing dimensions; returns the first of them.
std::optional<std::int64_t> trailing_axis(const GraphNode& mean, std::size_t rank) {
  const std::vector<std::int64_t> axes = attribute_ints(mean, "axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<std::int64_t>(rank - axes.size() + i)) return std::nullopt;
  }
  if (axes.empty() || attribute_int(mean, "keepdims", 1) == 0) return std::nullopt;
  return axes[0];
}

struct Match {
  TensorIndex input = 0;
  std::int64_t axis = 0;
  float epsilon = 0;
  std::vector<NodeIndex> absorbed;  ///< all but the Div
};

/// d = x - ReduceMean(x)
std::optional<NodeIndex> mean_of_difference(GraphEditor* editor, NodeIndex difference) {
  const GraphNode& node = editor->node(difference);
  const auto mean = editor->producer(node.inputs[1], "ReduceMean");
  if (!mean || editor->node(*mean).inputs[0] != node.inputs[0]) return std::nullopt;
  return mean;
}

/// The node that squares: Pow(d, 2) or Mul(d, d); returns d.
std::optional<TensorIndex> squared_tensor(GraphEditor* editor, NodeIndex square) {
  const GraphNode& node = editor->node(square);
  if (node.operation == "Pow" && editor->scalar(node.inputs[1]) == 2.0f) return node.inputs[0];
  if (node.operation == "Mul" && node.inputs[0] == node.inputs[1]) return node.inputs[0];
  return std::nullopt;
}

std::optional<Match> match(GraphEditor* editor, NodeIndex division) {
  const GraphNode& node = editor->node(division);
  const auto difference = editor->producer(node.inputs[0], "Sub");
  const auto root = editor->producer(node.inputs[1], "Sqrt");
  if (!difference || !root) return std::nullopt;
  const auto sum = editor->producer(editor->node(*root).inputs[0], "Add");
  if (!sum) return std::nullopt;
  const auto epsilon = editor->with_scalar(*sum);
  if (!epsilon) return std::nullopt;
  const auto variance = editor->producer(epsilon->input, "ReduceMean");
  if (!variance) return std::nullopt;
  const auto square = editor->producer(editor->node(*variance).inputs[0]);
  const auto squared = square ? squared_tensor(editor, *square) : std::nullopt;
  const auto second_difference = editor->producer(squared, "Sub");
  if (!second_difference) return std::nullopt;
  const auto mean = mean_of_difference(editor, *difference);
  const auto second_mean = mean_of_difference(editor, *second_difference);
  const TensorIndex input = editor->node(*difference).inputs[0].value();
  if (!mean || !second_mean || editor->node(*second_difference).inputs[0] != input)
    return std::nullopt;
  const std::size_t rank = editor->shape(input).size();
  const auto axis = trailing_axis(editor->node(*mean), rank);
  if (!axis || axis != trailing_axis(editor->node(*variance), rank) ||
      axis != trailing_axis(editor->node(*second_mean), rank)) {
    return std::nullopt;
  }
  Match found{input, *axis, epsilon->value, {*mean, *difference, *square, *variance, *sum, *root}};
  if (*second_difference != *difference) found.absorbed.push_back(*second_difference);
  if (*second_mean != *mean) found.absorbed.push_back(*second_mean);
  return found;
}

/// Every result of the pattern but the last is read inside it only.
bool is_closed(GraphEditor* editor, const std::vector<NodeIndex>& absorbed, NodeIndex last) {
  for (NodeIndex index : absorbed) {
    const TensorIndex result = editor->node(index).outputs[0];
    if (editor->is_output(result)) return false;
    for (NodeIndex reader : editor->readers(result)) {
      if (reader == last) continue;
      bool inside = false;
      for (NodeIndex other : absorbed) inside = inside || other == reader;
      if (!inside) return false;
    }
  }
  return true;
}

/// The reader `operation` of `value` whose other input is a constant of `count` elements.
std::optional<NodeIndex> constant_reader(GraphEditor* editor, TensorIndex value,
                                         const std::string& operation, std::int64_t count) {
  const auto reader = editor->sole_reader(value, operation);
  if (!reader) return std::nullopt;
  const auto other = editor->other_input(*reader, value);
  if (!editor->is_constant(other) || element_count(editor->shape(*other)) != count)
    return std::nullopt;
  return reader;
}

}  // namespace

void fuse_layer_norm(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation != "Div") continue;
    const auto found = match(editor, i);
    if (!found || !is_closed(editor, found->absorbed, i)) continue;
    const Shape& shape = editor->shape(found->input);
    const Shape row(shape.begin() + found->axis, shape.end());
    GraphNode fused{editor->node(i).name, "LayerNormalization", {found->input}, {}, {}, {}};
    fused.attributes = {{"axis", found->axis}, {"epsilon", found->epsilon}};
    std::vector<NodeIndex> absorbed = found->absorbed;
    NodeIndex last = i;
    const auto scale =
        constant_reader(editor, editor->node(i).outputs[0], "Mul", element_count(row));
    if (scale) {
      absorbed.push_back(last);
      fused.inputs.push_back(editor->other_input(*scale, editor->node(last).outputs[0]));
      last = *scale;
      const auto shift =
          constant_reader(editor, editor->node(last).outputs[0], "Add", element_count(row));
      if (shift) {
        absorbed.push_back(last);
        fused.inputs.push_back(editor->other_input(*shift, editor->node(last).outputs[0]));
        last = *shift;
      }
    } else {
      std::vector<float> ones(static_cast<std::size_t>(element_count(row)), 1.0f);
      fused.inputs.push_back(
          editor->add_constant(fused.name + ".ones", real_tensor(row, std::move(ones))));
    }
    editor->fuse(absorbed, last, std::move(fused));
  }
  editor->finish();
}

}  // namespace fm
