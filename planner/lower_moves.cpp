// Nodes that only say where elements are: most become views of the stored tensor and no launch at
// all.
#include "planner/layout/movement.hpp"
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

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
  const TensorIndex input = node.inputs[0].value();
  state.alias(node.outputs[0], input, *movement_map(state.graph(), node, state.map_of(input)));
}

namespace {

/// Parts whose operators did not write them into the joined tensor are copied into it.
void join_in_place(LoweringState& state, const GraphNode& node) {
  const TensorIndex output = node.outputs[0];
  for (std::size_t part = 0; part < node.inputs.size(); ++part) {
    const TensorIndex input = node.inputs[part].value();
    if (state.lies_in(input, output)) continue;
    const bool linear = state.joined_layout(output) == Layout::linear;
    const Layout layout = state.layout_of(linear ? input : output);
    const PlanTensor x = state.operand(input, layout, Reads::once);
    const PlanTensor y =
        state.region_of(state.joined_storage(output), part_of(state.graph(), node, part), layout);
    state.emit(build_unary(x, y, {}), node);
  }
}

}  // namespace

void lower_concat(LoweringState& state, const GraphNode& node) {
  const TensorIndex output = node.outputs[0];
  const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
  if (state.eliminates()) return join_in_place(state, node);
  Layout layout = state.layout_of(output);
  if (!joins_whole_texels(state, node, layout, axis)) layout = Layout::linear;
  std::vector<PlanTensor> parts;
  for (const auto& input : node.inputs) {
    parts.push_back(state.operand(input.value(), layout, Reads::once));
  }
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
  if (const auto map = movement_map(state.graph(), node, state.map_of(data))) {
    return state.alias(output, data, *map);
  }
  const Layout layout = axis + 1 < state.shape(data).size() ? Layout::rows : Layout::linear;
  const PlanTensor x = state.operand(data, layout, Reads::once);
  const PlanTensor index = state.index_operand(indices);
  const PlanTensor y = state.result(output, layout);
  state.emit(build_gather(x, index, y, static_cast<int>(axis)), node);
}

void lower_gather_rows(LoweringState& state, const GraphNode& node) {
  std::vector<TensorIndex> table;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) table.push_back(node.inputs[i].value());
  state.gather_rows(node.outputs[0], node.inputs[0].value(), table);
}

namespace {

/// The fill value everywhere (stride 0), then the input where it belongs, in one launch each.
void pad_in_place(LoweringState& state, const GraphNode& node, const PlanTensor& fill,
                  Layout layout) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const Shape& shape = state.shape(input);
  const std::vector<std::int64_t> pads = attribute_ints(node, "pads");
  const std::vector<std::int64_t> starts(pads.begin(),
                                         pads.begin() + static_cast<std::ptrdiff_t>(shape.size()));
  const std::vector<std::int64_t> steps(shape.size(), 1), still(shape.size(), 0);
  const PlanTensor y = state.result(output, layout);
  state.emit(build_move(fill, y, still, 0), node);
  const Layout grid = layout == Layout::linear ? state.layout_of(input) : layout;
  const PlanTensor x = state.operand(input, grid, Reads::once);
  const IndexMap region = sliced(IndexMap(state.shape(output)), starts, steps, shape);
  state.emit(build_unary(x, state.region_of(y, region, grid), {}), node);
}

}  // namespace

void lower_pad(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const std::vector<std::int64_t> pads = attribute_ints(node, "pads");
  const std::size_t rank = state.shape(input).size();
  Layout layout = state.layout_of(output);
  const std::size_t lanes = layout == Layout::channels ? 1 : rank - 1;
  if (pads[lanes] % 4 != 0 || (pads[rank + lanes] != 0 && state.shape(input)[lanes] % 4 != 0)) {
    layout = Layout::linear;
  }
  const PlanTensor fill = state.operand(node.inputs[1].value(), Layout::rows, {1});
  if (state.eliminates()) return pad_in_place(state, node, fill, layout);
  PlanTensor x = state.operand(input, layout, Reads::once);
  std::size_t last = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (pads[d] + pads[rank + d] != 0) last = d;
  }
  // One dimension after another: the fill value repeated everywhere (stride 0), then the part
  // placed into it.
  Shape shape = x.shape;
  for (std::size_t d = 0; d <= last; ++d) {
    if (pads[d] + pads[rank + d] == 0) continue;
    shape[d] += pads[d] + pads[rank + d];
    const PlanTensor y = d == last ? state.result(output, layout)
                                   : state.temporary(node.name + "#" + std::to_string(d), layout,
                                                     shape, state.graph().tensors[output].type);
    state.emit(build_move(fill, y, std::vector<std::int64_t>(rank, 0), 0), node);
    state.emit(build_place(x, y, static_cast<int>(d), pads[d]), node);
    x = y;
  }
}

}  // namespace fm
