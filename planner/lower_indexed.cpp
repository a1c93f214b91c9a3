// Operators that place or take single elements by computed numbers, and running sums: in linear
// tensors.
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

int axis_of(const GraphNode& node) { return static_cast<int>(attribute_int(node, "axis", 0)); }

}  // namespace

void lower_gather_elements(LoweringState& state, const GraphNode& node) {
  const PlanTensor x = state.operand(node.inputs[0].value(), Layout::linear, Reads::once);
  const PlanTensor indices = state.index_operand(node.inputs[1].value());
  const PlanTensor y = state.result(node.outputs[0], Layout::linear);
  state.emit(build_gather_elements(x, indices, y, axis_of(node)), node);
}

void lower_scatter(LoweringState& state, const GraphNode& node) {
  const PlanTensor x = state.operand(node.inputs[0].value(), Layout::linear, Reads::once);
  const PlanTensor indices = state.index_operand(node.inputs[1].value());
  const PlanTensor updates = state.operand(node.inputs[2].value(), Layout::linear, Reads::once);
  const PlanTensor y = state.result(node.outputs[0], Layout::linear);
  const std::string word = attribute_word(node, "reduction", "none");
  const ScatterCombination combination = word == "add"   ? ScatterCombination::add
                                         : word == "mul" ? ScatterCombination::multiply
                                                         : ScatterCombination::replace;
  state.emit(build_scatter(x, indices, updates, y, axis_of(node), combination), node);
}

void lower_scan(LoweringState& state, const GraphNode& node) {
  const PlanTensor x = state.operand(node.inputs[0].value(), Layout::linear, Reads::once);
  const PlanTensor y = state.result(node.outputs[0], Layout::linear);
  state.emit(build_scan(x, y, axis_of(node), attribute_int(node, "exclusive", 0) != 0,
                        attribute_int(node, "reverse", 0) != 0),
             node);
}

}  // namespace fm
