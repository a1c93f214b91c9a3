// Scales into matrix products, scale and mask into Softmax: attention without launches of theirs.
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

/// A Mul or Div by a scalar: the factor and the scaled tensor.
struct Scaling {
  TensorIndex input;
  float factor;
};

std::optional<Scaling> scaling_of(GraphEditor* editor, NodeIndex node) {
  const std::string& operation = editor->node(node).operation;
  const auto scaled = editor->with_scalar(node);
  if (!scaled || editor->shape(scaled->input) != editor->shape(editor->node(node).outputs[0])) {
    return std::nullopt;
  }
  if (operation == "Mul") return Scaling{scaled->input, scaled->value};
  if (operation == "Div" && !scaled->constant_first && scaled->value != 0) {
    return Scaling{scaled->input, 1 / scaled->value};
  }
  return std::nullopt;
}

void multiply_scale(GraphNode* node, float factor) {
  node->attributes["scale"] = attribute_float(*node, "scale", 1) * factor;
}

/// The scaling that feeds `value`, alone, perhaps through transposes and reshapes; they then read
/// its input.
bool take_scaling(GraphEditor* editor, NodeIndex reader, std::size_t input, GraphNode* product,
                  std::vector<NodeIndex>* absorbed) {
  NodeIndex below = reader;
  std::size_t slot = input;
  for (;;) {
    const auto value = editor->node(below).inputs[slot];
    const auto node = editor->producer(value);
    if (!node || !editor->sole_reader(*value)) return false;
    if (const auto scaling = scaling_of(editor, *node)) {
      multiply_scale(product, scaling->factor);
      if (below == reader) {
        product->inputs[slot] = scaling->input;
      } else {
        editor->set_input(below, slot, scaling->input);
      }
      absorbed->push_back(*node);
      return true;
    }
    const std::string& operation = editor->node(*node).operation;
    if (operation != "Transpose" && operation != "Reshape") return false;
    below = *node;
    slot = 0;
  }
}

/// Scales of either operand of a product of two activations.
void fuse_operand_scales(GraphEditor* editor, NodeIndex i) {
  for (std::size_t side = 0; side < 2; ++side) {
    GraphNode product = editor->node(i);
    std::vector<NodeIndex> absorbed;
    if (editor->is_constant(product.inputs[1])) return;
    if (take_scaling(editor, i, side, &product, &absorbed))
      editor->fuse(absorbed, i, std::move(product));
  }
}

/// scale * (A B), when nothing else was added yet.
void fuse_result_scale(GraphEditor* editor, NodeIndex i) {
  const auto scaling = scaling_of(editor, i);
  if (!scaling || !editor->sole_reader(scaling->input)) return;
  const auto product = editor->producer(scaling->input, "MatMul");
  if (!product || editor->node(*product).inputs.size() > 2) return;
  GraphNode fused = editor->node(*product);
  fused.outputs.clear();
  multiply_scale(&fused, scaling->factor);
  editor->fuse({*product}, i, std::move(fused));
}

/// The mask broadcasts over leading dimensions only, as the softmax kernel reads it.
bool is_mask_for(const Shape& mask, const Shape& shape) {
  if (mask.empty() || mask.size() > shape.size() || mask.back() != shape.back()) return false;
  return broadcast_shape(mask, shape) == shape;
}

void fuse_softmax(GraphEditor* editor, NodeIndex i) {
  const TensorIndex output = editor->node(i).outputs[0];
  const auto axis = static_cast<std::size_t>(attribute_int(editor->node(i), "axis", 0));
  if (axis + 1 != editor->shape(output).size()) return;
  if (const auto sum = editor->producer(editor->node(i).inputs[0], "Add")) {
    if (!editor->sole_reader(editor->node(*sum).outputs[0])) return;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto scores = editor->node(*sum).inputs[side],
                 mask = editor->node(*sum).inputs[1 - side];
      // The scores come from the product; the mask is an input or a constant.
      if (editor->shape(*scores) != editor->shape(output) ||
          !is_mask_for(editor->shape(*mask), editor->shape(output))) {
        continue;
      }
      if (!editor->is_constant(mask) && editor->producer(mask)) continue;
      GraphNode fused = editor->node(i);
      fused.inputs = {scores, mask};
      editor->fuse({*sum}, i, std::move(fused));
      break;
    }
  }
  const auto value = editor->node(i).inputs[0];
  const auto scale = editor->producer(value);
  if (!scale || !editor->sole_reader(*value)) return;
  if (const auto scaling = scaling_of(editor, *scale)) {
    GraphNode fused = editor->node(i);
    multiply_scale(&fused, scaling->factor);
    fused.inputs[0] = scaling->input;
    editor->fuse({*scale}, i, std::move(fused));
  }
}

}  // namespace

void fuse_attention_scales(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation == "MatMul") fuse_operand_scales(editor, i);
    if (editor->node(i).operation == "Mul" || editor->node(i).operation == "Div") {
      fuse_result_scale(editor, i);
    }
    if (editor->node(i).operation == "Softmax") fuse_softmax(editor, i);
  }
  editor->finish();
}

}  // namespace fm
