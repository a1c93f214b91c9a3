// Elementwise operators: unary ones, and binary ones with broadcasting.
#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

/// Of integers, whose quotients are truncated and powers whole.
BinaryOperator operator_of(const GraphNode& node, ElementType type) {
  const std::string& operation = node.operation;
  if (operation == "Mod") {
    return attribute_int(node, "fmod", 0) != 0 ? BinaryOperator::remainder : BinaryOperator::modulo;
  }
  if (!is_real(type) && operation == "Div") return BinaryOperator::integer_divide;
  if (!is_real(type) && operation == "Pow") return BinaryOperator::integer_power;
  static const std::map<std::string, BinaryOperator> table = {
      {"Add", BinaryOperator::add},         {"Sub", BinaryOperator::subtract},
      {"Mul", BinaryOperator::multiply},    {"Div", BinaryOperator::divide},
      {"Max", BinaryOperator::maximum},     {"Min", BinaryOperator::minimum},
      {"Pow", BinaryOperator::power},       {"Equal", BinaryOperator::equal},
      {"Less", BinaryOperator::less},       {"LessOrEqual", BinaryOperator::less_or_equal},
      {"And", BinaryOperator::logical_and}, {"Or", BinaryOperator::logical_or},
      {"Xor", BinaryOperator::logical_xor}, {"PRelu", BinaryOperator::prelu}};
  return table.at(operation);
}

/// The shape with leading dimensions of one up to `rank`.
Shape with_rank(Shape shape, std::size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

/// Operands and result of an elementwise operator: as the result's layout says, broadcasting left
/// to the kernel; or in the order that the result's readers chose, operands expanded to it.
class ElementwiseTensors {
 public:
  ElementwiseTensors(LoweringState& state, const GraphNode& node)
      : state_(state), node_(node), form_(state.elementwise_form(node)) {
    if (form_) order_ = inverse(form_->map, form_->shape);
    if (!order_) form_.reset();
  }

  PlanTensor operand(std::size_t slot) {
    const TensorIndex tensor = node_.inputs[slot].value(), output = node_.outputs[0];
    const Shape& shape = state_.shape(output);
    const Shape own = with_rank(state_.shape(tensor), shape.size());
    if (!form_) return state_.operand(tensor, state_.layout_of(output), own, Reads::once);
    const IndexMap wide = expanded(reshaped(state_.map_of(tensor), own), shape);
    return state_.mapped_operand(tensor, wide.then(*order_), form_->layout, Reads::once);
  }

  PlanTensor result() {
    const TensorIndex output = node_.outputs[0];
    return form_ ? state_.result_in(*form_, output)
                 : state_.result(output, state_.layout_of(output));
  }

 private:
  LoweringState& state_;
  const GraphNode& node_;
  std::optional<StorageForm> form_;
  std::optional<IndexMap> order_;
};

}  // namespace

void lower_binary(LoweringState& state, const GraphNode& node) {
  ElementwiseTensors tensors(state, node);
  const PlanTensor x0 = tensors.operand(0);
  const PlanTensor x1 = tensors.operand(1);
  const PlanTensor y = tensors.result();
  const ElementType type = state.graph().tensors[node.outputs[0]].type;
  state.emit(build_binary(x0, x1, y, operator_of(node, type), epilogue_of(node)), node);
}

/// What the condition picks of the first value, then of the second, added: neither is multiplied,
/// so that infinities and NaN stay where they are.
void lower_where(LoweringState& state, const GraphNode& node) {
  ElementwiseTensors tensors(state, node);
  const PlanTensor condition = tensors.operand(0);
  const PlanTensor first = tensors.operand(1);
  const PlanTensor second = tensors.operand(2);
  const PlanTensor y = tensors.result();
  const ElementType type = state.graph().tensors[node.outputs[0]].type;
  const PlanTensor picked = state.temporary(node.name + "#picked", y.layout, y.shape, type);
  state.emit(build_binary(condition, first, picked, BinaryOperator::pick, {}), node);
  Epilogue sum;
  sum.residual = &picked;
  state.emit(build_binary(condition, second, y, BinaryOperator::pick_other, sum), node);
}

void lower_unary(LoweringState& state, const GraphNode& node) {
  ElementwiseTensors tensors(state, node);
  const PlanTensor x = tensors.operand(0);
  const PlanTensor y = tensors.result();
  state.emit(build_unary(x, y, activation_epilogue(node)), node);
}

}  // namespace fm
