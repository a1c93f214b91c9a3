// Elementwise operators with inputs or semantics that no single kernel has.
#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

bool expand_mean(Expansion& e) {
  TensorIndex sum = e.input(0);
  for (std::size_t i = 1; i < e.node.inputs.size(); ++i) sum = e.add("Add", {sum, e.input(i)});
  e.give(0, "Div", {sum, e.number(static_cast<double>(e.node.inputs.size()), e.type(sum))});
  return true;
}

/// Bounds that are computed.
bool expand_clip(Expansion& e) {
  const auto computed = [&](std::size_t slot) {
    return e.has(slot) && !e.is_constant(e.input(slot));
  };
  const bool integers = e.has(0) && !is_real(e.type(e.input(0))) && (e.has(1) || e.has(2));
  if (!computed(1) && !computed(2) && !integers) return false;
  TensorIndex value = e.input(0);
  if (e.has(1)) value = e.add("Max", {value, e.input(1)});
  if (e.has(2)) value = e.add("Min", {value, e.input(2)});
  e.give(0, value);
  return true;
}

/// Before opset 7 the second operand was aligned at `axis`, PRelu's slopes at the channels.
TensorIndex aligned(Expansion& e, TensorIndex operand, std::int64_t axis, std::int64_t rank) {
  Shape shape = e.shape(operand);
  while (axis + static_cast<std::int64_t>(shape.size()) < rank) shape.push_back(1);
  return e.reshape(operand, shape);
}

bool expand_old_broadcast(Expansion& e) {
  if (e.opset() >= 7 || attribute_int(e.node, "broadcast", 0) == 0) return false;
  const auto rank = static_cast<std::int64_t>(e.shape(e.input(0)).size());
  const auto own = static_cast<std::int64_t>(e.shape(e.input(1)).size());
  std::int64_t axis = attribute_int(e.node, "axis", rank - own);
  if (axis < 0) axis += rank;
  e.give(0, e.node.operation, {e.input(0), aligned(e, e.input(1), axis, rank)});
  return true;
}

bool expand_prelu(Expansion& e) {
  const Shape slope = e.shape(e.input(1));
  if (e.opset() >= 7 || slope.size() != 1 || slope[0] == 1) return false;
  const auto rank = static_cast<std::int64_t>(e.shape(e.input(0)).size());
  e.give(0, "PRelu", {e.input(0), aligned(e, e.input(1), 1, rank)});
  return true;
}

/// In inference the input itself, with a mask of ones.
bool expand_dropout(Expansion& e) {
  if (!e.wants(1) && !e.has(2)) return false;
  if (e.has(2)) {
    NodeContext context = e.context();
    const bool training = context.constant_int(2) != 0;
    const float ratio = e.has(1) ? context.constant_real(1) : 0.5f;
    if (training && ratio != 0) context.refuse("training with a random mask is not supported");
  }
  e.give(0, e.input(0));
  const ElementType type = e.opset() < 10 ? e.type(e.input(0)) : ElementType::boolean;
  const Shape shape = e.shape(e.input(0));
  e.give(1, "Expand",
         {e.number(1, type), e.integers({static_cast<std::int64_t>(shape.size())}, shape)});
  return true;
}

}  // namespace

void add_elementwise_expanders(ExpanderTable* table) {
  (*table)["Mean"] = expand_mean;
  (*table)["Clip"] = expand_clip;
  (*table)["PRelu"] = expand_prelu;
  (*table)["Dropout"] = expand_dropout;
  for (const char* name :
       {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Less", "Greater"}) {
    (*table)[name] = expand_old_broadcast;
  }
}

}  // namespace fm
