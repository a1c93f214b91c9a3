// Nodes that only say where elements are: most become views of the stored tensor and no launch at
// all.
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

bool consecutive(const std::vector<std::int64_t>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] != values[0] + static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// Parts along the dimension of the lanes must start and end with whole texels.
bool joins_whole_texels(const LoweringState& state, const GraphNode& node, Layout layout,
                        std::size_t axis) {
  const std::size_t rank = state.shape(node.outputs[0]).size();
  if (axis != (layout == Layout::channels ? 1 : rank - 1)) return true;
  for (std::size_t i = 0; i + 1 < node.inputs.size(); ++i) {
    if (state.shape(node.inputs[i].value())[axis] % 4 != 0) return false;
  }
  return true;
}

}  // namespace

void lower_view(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const TensorView& view = state.view_of(input);
  if (node.operation == "Transpose") {
    return state.alias(output, input, transposed(view, attribute_ints(node, "perm")));
  }
  if (node.operation == "Slice") {
    return state.alias(output, input,
                       sliced(view, attribute_ints(node, "starts"), attribute_ints(node, "steps"),
                              state.shape(output)));
  }
  if (node.operation == "Expand") {
    return state.alias(output, input, expanded(view, state.shape(output)));
  }
  if (const auto reshape = reshaped(view, state.shape(output))) {
    return state.alias(output, input, *reshape);
  }
  state.define(output, state.dense_operand(input, state.shape(output)),
               whole_view(state.shape(output)));
}

void lower_concat(LoweringState& state, const GraphNode& node) {
  const TensorIndex output = node.outputs[0];
  const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
  Layout layout = state.layout_of(output);
  if (!joins_whole_texels(state, node, layout, axis)) layout = Layout::linear;
  std::vector<PlanTensor> parts;
  for (const auto& input : node.inputs) parts.push_back(state.operand(input.value(), layout));
  const PlanTensor y = state.result(output, layout);
  std::int64_t start = 0;
  for (const PlanTensor& part : parts) {
    state.emit(build_place(part, y, static_cast<int>(axis), start), node);
    start += part.shape[axis];
  }
}

void lower_gather(LoweringState& state, const GraphNode& node) {
  const TensorIndex data = node.inputs[0].value(), indices = node.inputs[1].value();
  const TensorIndex output = node.outputs[0];
  const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
  const std::vector<std::int64_t> positions = state.constant_positions(indices);
  if (!positions.empty() && consecutive(positions)) {
    // Neighbouring positions are a slice; the dimensions of the indices are a reshape of it.
    Shape extents = state.shape(data);
    extents[axis] = static_cast<std::int64_t>(positions.size());
    std::vector<std::int64_t> starts(extents.size(), 0);
    const std::vector<std::int64_t> steps(extents.size(), 1);
    starts[axis] = positions[0];
    const TensorView slice = sliced(state.view_of(data), starts, steps, extents);
    if (const auto view = reshaped(slice, state.shape(output))) {
      return state.alias(output, data, *view);
    }
  }
  const Layout layout = axis + 1 < state.shape(data).size() ? Layout::rows : Layout::linear;
  const PlanTensor x = state.operand(data, layout);
  const PlanTensor index = state.index_operand(indices);
  const PlanTensor y = state.result(output, layout);
  state.emit(build_gather(x, index, y, static_cast<int>(axis)), node);
}

void lower_gather_rows(LoweringState& state, const GraphNode& node) {
  std::vector<TensorIndex> table;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) table.push_back(node.inputs[i].value());
  state.gather_rows(node.outputs[0], node.inputs[0].value(), table);
}

void lower_pad(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const std::vector<std::int64_t> pads = attribute_ints(node, "pads");
  const std::size_t rank = state.shape(input).size();
  Layout layout = state.layout_of(output);
  const std::size_t lanes = layout == Layout::channels ? 1 : rank - 1;
  if (pads[lanes] % 4 != 0 || (pads[rank + lanes] != 0 && state.shape(input)[lanes] % 4 != 0)) {
    layout = Layout::linear;
  }
  PlanTensor x = state.operand(input, layout);
  std::size_t last = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (pads[d] + pads[rank + d] != 0) last = d;
  }
  const PlanTensor fill = state.operand(node.inputs[1].value(), Layout::rows, {1});
  // One dimension after another: the fill value repeated everywhere (stride 0), then the part
  // placed into it.
  Shape shape = x.shape;
  for (std::size_t d = 0; d <= last; ++d) {
    if (pads[d] + pads[rank + d] == 0) continue;
    shape[d] += pads[d] + pads[rank + d];
    const PlanTensor y = d == last
                             ? state.result(output, layout)
                             : state.temporary(node.name + "#" + std::to_string(d), layout, shape);
    state.emit(build_move(fill, y, std::vector<std::int64_t>(rank, 0), 0), node);
    state.emit(build_place(x, y, static_cast<int>(d), pads[d]), node);
    x = y;
  }
}

}  // namespace fm
