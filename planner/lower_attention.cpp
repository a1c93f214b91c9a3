// Attention: queries, keys and values in `rows` layout, batch dimensions in front.
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {

void lower_attention(LoweringState& state, const GraphNode& node) {
  const TensorIndex keys = node.inputs[1].value();
  const PlanTensor query = state.operand(node.inputs[0].value(), Layout::rows);
  // The graph has them transposed, [.., D, K].
  const PlanTensor key =
      state.mapped_operand(keys, with_last_two_swapped(state.map_of(keys)), Layout::rows);
  const PlanTensor value = state.operand(node.inputs[2].value(), Layout::rows);
  std::optional<PlanTensor> mask;
  if (node.inputs.size() > 3) {
    mask = state.operand(node.inputs[3].value(), Layout::rows, Reads::once);
  }
  const PlanTensor y = state.result(node.outputs[0], Layout::rows);
  AttentionOperands operands{};
  operands.query = &query;
  operands.key = &key;
  operands.value = &value;
  operands.mask = mask ? &*mask : nullptr;
  if (node.attributes.count("keys_behind") != 0) {
    operands.band = {attribute_int(node, "keys_behind", 0), attribute_int(node, "keys_ahead", 0)};
  }
  operands.scale = attribute_float(node, "scale", 1);
  operands.y = &y;
  PlanLaunch launch = build_attention(operands);
  const std::uint64_t macs = launch.macs;
  state.emit(std::move(launch), node, macs);
}

}  // namespace fm
