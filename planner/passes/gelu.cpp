// GELU (Hendrycks and Gimpel 2016): x * 0.5 * (1 + erf(x / sqrt(2))), its factors in any order, and
// the tanh form.
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

constexpr double square_root_of_two = 1.4142135623730951;
constexpr double tanh_scale = 0.7978845608028654;  // sqrt(2 / pi)

struct Argument {
  TensorIndex x;
  std::vector<NodeIndex> nodes;
};

/// x / sqrt(2) or x * (1 / sqrt(2))
std::optional<Argument> erf_argument(GraphEditor* editor, TensorIndex value) {
  const auto node = editor->producer(value);
  if (!node) return std::nullopt;
  const auto scaled = editor->with_scalar(*node);
  if (!scaled) return std::nullopt;
  const std::string& operation = editor->node(*node).operation;
  const bool divided =
      operation == "Div" && !scaled->constant_first && is_close(scaled->value, square_root_of_two);
  const bool multiplied = operation == "Mul" && is_close(scaled->value, 1 / square_root_of_two);
  if (!divided && !multiplied) return std::nullopt;
  return Argument{scaled->input, {*node}};
}

/// x^3 as Pow(x, 3) or two products
std::optional<Argument> cube(GraphEditor* editor, TensorIndex value) {
  const auto node = editor->producer(value);
  if (!node) return std::nullopt;
  const GraphNode& outer = editor->node(*node);
  if (outer.operation == "Pow") {
    const auto exponent = editor->scalar(outer.inputs[1]);
    if (exponent != 3.0f) return std::nullopt;
    return Argument{outer.inputs[0].value(), {*node}};
  }
  if (outer.operation != "Mul") return std::nullopt;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto square = editor->producer(outer.inputs[side], "Mul");
    if (!square) continue;
    const GraphNode& inner = editor->node(*square);
    if (inner.inputs[0] == inner.inputs[1] && inner.inputs[0] == outer.inputs[1 - side]) {
      return Argument{inner.inputs[0].value(), {*square, *node}};
    }
  }
  return std::nullopt;
}

/// sqrt(2 / pi) * (x + 0.044715 x^3)
std::optional<Argument> tanh_argument(GraphEditor* editor, TensorIndex value) {
  const auto product = editor->producer(value, "Mul");
  const auto scaled = product ? editor->with_scalar(*product) : std::nullopt;
  if (!scaled || !is_close(scaled->value, tanh_scale)) return std::nullopt;
  const auto sum = editor->producer(scaled->input, "Add");
  if (!sum) return std::nullopt;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto term = editor->producer(editor->node(*sum).inputs[side], "Mul");
    const auto weighted = term ? editor->with_scalar(*term) : std::nullopt;
    if (!weighted || !is_close(weighted->value, 0.044715)) continue;
    auto cubed = cube(editor, weighted->input);
    if (!cubed || editor->node(*sum).inputs[1 - side] != cubed->x) continue;
    cubed->nodes.insert(cubed->nodes.end(), {*term, *sum, *product});
    return cubed;
  }
  return std::nullopt;
}

/// The product of x, `gate` and 0.5 in any order, starting at the reader of `gate`.
bool match_product(GraphEditor* editor, TensorIndex x, TensorIndex gate,
                   std::vector<NodeIndex>* absorbed, NodeIndex* last) {
  const auto first = editor->sole_reader(gate, "Mul");
  if (!first) return false;
  const auto other = editor->other_input(*first, gate);
  if (!other) return false;
  // x * gate, or 0.5 * gate, then the missing factor
  const bool by_x = *other == x;
  const auto by_half = editor->scalar(*other);
  if (by_x || (by_half && is_close(*by_half, 0.5))) {
    const auto second = editor->sole_reader(editor->node(*first).outputs[0], "Mul");
    if (!second) return false;
    const auto factor = editor->other_input(*second, editor->node(*first).outputs[0]);
    const auto half = editor->scalar(factor);
    if (by_x ? !(half && is_close(*half, 0.5)) : factor != x) return false;
    absorbed->push_back(*first);
    *last = *second;
    return true;
  }
  // (0.5 * x) * gate
  const auto halved = editor->producer(*other, "Mul");
  const auto scaled = halved ? editor->with_scalar(*halved) : std::nullopt;
  if (!scaled || scaled->input != x || !is_close(scaled->value, 0.5)) return false;
  if (!editor->sole_reader(*other)) return false;
  absorbed->push_back(*halved);
  *last = *first;
  return true;
}

void try_fuse(GraphEditor* editor, NodeIndex core) {
  const GraphNode& node = editor->node(core);
  const bool tanh = node.operation == "Tanh";
  const TensorIndex input = node.inputs[0].value();
  const auto argument = tanh ? tanh_argument(editor, input) : erf_argument(editor, input);
  if (!argument) return;
  const auto sum = editor->sole_reader(node.outputs[0], "Add");
  const auto one = sum ? editor->with_scalar(*sum) : std::nullopt;
  if (!one || !is_close(one->value, 1)) return;
  std::vector<NodeIndex> absorbed = argument->nodes;
  absorbed.insert(absorbed.end(), {core, *sum});
  NodeIndex last = 0;
  if (!match_product(editor, argument->x, editor->node(*sum).outputs[0], &absorbed, &last)) return;
  for (NodeIndex inner : argument->nodes) {
    for (NodeIndex reader : editor->readers(editor->node(inner).outputs[0])) {
      bool inside = false;
      for (NodeIndex other : absorbed) inside = inside || other == reader;
      if (!inside) return;
    }
  }
  GraphNode fused{editor->node(last).name, "Gelu", {argument->x}, {}, {}, {}};
  fused.attributes["approximate"] = std::string(tanh ? "tanh" : "none");
  editor->fuse(absorbed, last, std::move(fused));
}

}  // namespace

void fuse_gelu(GraphEditor* editor) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    const std::string& operation = editor->node(i).operation;
    if (operation == "Erf" || operation == "Tanh") try_fuse(editor, i);
  }
  editor->finish();
}

}  // namespace fm
