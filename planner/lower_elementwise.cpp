// Binary operators with broadcasting.
#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"

namespace fm {
namespace {

BinaryOperator operator_of(const std::string& operation) {
  static const std::map<std::string, BinaryOperator> table = {
      {"Add", BinaryOperator::add},      {"Sub", BinaryOperator::subtract},
      {"Mul", BinaryOperator::multiply}, {"Div", BinaryOperator::divide},
      {"Max", BinaryOperator::maximum},  {"Min", BinaryOperator::minimum},
      {"Pow", BinaryOperator::power}};
  return table.at(operation);
}

/// The shape with leading dimensions of one up to `rank`.
Shape with_rank(Shape shape, std::size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

}  // namespace

void lower_binary(LoweringState& state, const GraphNode& node) {
  const TensorIndex output = node.outputs[0];
  const Layout layout = state.layout_of(output);
  const std::size_t rank = state.shape(output).size();
  const auto fetch = [&](TensorIndex tensor) {
    return state.operand(tensor, layout, with_rank(state.shape(tensor), rank));
  };
  const PlanTensor x0 = fetch(node.inputs[0].value());
  const PlanTensor x1 = fetch(node.inputs[1].value());
  const PlanTensor y = state.result(output, layout);
  state.emit(build_binary(x0, x1, y, operator_of(node.operation), epilogue_of(node)), node);
}

}  // namespace fm
