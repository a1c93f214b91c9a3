// Hard-swish, hard-sigmoid and SiLU written as several nodes.
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

/// Clip(x + 3, 0, 6): the gate of hard-sigmoid and hard-swish (Howard et al. 2019, MobileNetV3).
struct Gate {
  TensorIndex x;
  NodeIndex add, clip;
};

std::optional<Gate> gate_of(GraphEditor* editor, std::optional<TensorIndex> value) {
  const auto clip = editor->producer(value, "Clip");
  if (!clip) return std::nullopt;
  const GraphNode& node = editor->node(*clip);
  if (attribute_float(node, "min", -1) != 0 || attribute_float(node, "max", -1) != 6)
    return std::nullopt;
  const auto add = editor->producer(node.inputs[0], "Add");
  const auto shifted = add ? editor->with_scalar(*add) : std::nullopt;
  if (!shifted || shifted->value != 3 || !editor->sole_reader(node.inputs[0].value())) {
    return std::nullopt;
  }
  return Gate{shifted->input, *add, *clip};
}

/// The value divided by six: Div(v, 6) or Mul(v, 1 / 6).
std::optional<TensorIndex> sixth_of(GraphEditor* editor, NodeIndex node) {
  const auto scaled = editor->with_scalar(node);
  if (!scaled) return std::nullopt;
  const std::string& operation = editor->node(node).operation;
  const bool divided = operation == "Div" && !scaled->constant_first && is_close(scaled->value, 6);
  const bool multiplied = operation == "Mul" && is_close(scaled->value, 1.0 / 6);
  return divided || multiplied ? std::make_optional(scaled->input) : std::nullopt;
}

GraphNode activation(const std::string& name, const std::string& operation, TensorIndex x) {
  GraphNode node{name, operation, {x}, {}, {}, {}};
  if (operation != "Silu") node.attributes = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
  return node;
}

/// (x * gate(x)) / 6 -> HardSwish; gate(x) / 6 -> HardSigmoid.
void try_sixth(GraphEditor* editor, NodeIndex i) {
  const auto value = sixth_of(editor, i);
  if (!value || !editor->sole_reader(*value)) return;
  if (const auto gate = gate_of(editor, *value)) {
    return editor->fuse({gate->add, gate->clip}, i,
                        activation(editor->node(i).name, "HardSigmoid", gate->x));
  }
  const auto product = editor->producer(*value, "Mul");
  if (!product) return;
  for (std::size_t side = 0; side < 2; ++side) {
    const GraphNode& node = editor->node(*product);
    const auto gate = gate_of(editor, node.inputs[side]);
    if (!gate || node.inputs[1 - side] != gate->x || !editor->sole_reader(*node.inputs[side]))
      continue;
    return editor->fuse({gate->add, gate->clip, *product}, i,
                        activation(editor->node(i).name, "HardSwish", gate->x));
  }
}

/// x * HardSigmoid(x) -> HardSwish; x * Sigmoid(x) -> Silu.
void try_product(GraphEditor* editor, NodeIndex i) {
  const GraphNode& node = editor->node(i);
  for (std::size_t side = 0; side < 2; ++side) {
    const auto gate = editor->producer(node.inputs[side]);
    if (!gate || !editor->sole_reader(*node.inputs[side])) continue;
    const GraphNode& inner = editor->node(*gate);
    if (inner.operation != "Sigmoid" && inner.operation != "HardSigmoid") continue;
    if (inner.inputs[0] != node.inputs[1 - side]) continue;
    GraphNode fused = activation(node.name, inner.operation == "Sigmoid" ? "Silu" : "HardSwish",
                                 inner.inputs[0].value());
    if (inner.operation == "HardSigmoid") {
      fused.attributes = {{"alpha", attribute_float(inner, "alpha", 0.2f)},
                          {"beta", attribute_float(inner, "beta", 0.5f)}};
    }
    return editor->fuse({*gate}, i, std::move(fused));
  }
}

}  // namespace

void fuse_gated_activations(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    const std::string operation = editor->node(i).operation;
    if (operation == "Div" || operation == "Mul") try_sixth(editor, i);
    if (editor->node(i).operation == "Mul") try_product(editor, i);
  }
  editor->finish();
}

}  // namespace fm
