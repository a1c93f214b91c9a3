// Reductions, softmax and layer normalisation: over the last dimension of `rows`, or over H and W
// of `channels`.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

const std::map<std::string, Reduction>& reductions() {
  static const std::map<std::string, Reduction> table = {
      {"ReduceSum", Reduction::sum},
      {"ReduceMean", Reduction::mean},
      {"ReduceMax", Reduction::maximum},
      {"ReduceMin", Reduction::minimum},
      {"ReduceProd", Reduction::product},
      {"ReduceL2", Reduction::l2},
      {"ReduceSumSquare", Reduction::sum_square}};
  return table;
}

void reduce_map(LoweringState& state, const GraphNode& node, Reduction kind) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const Shape one_pixel = {state.shape(input)[0], state.shape(input)[1], 1, 1};
  const PlanTensor x = state.operand(input, Layout::channels, Reads::once);
  PlanTensor y = state.result(output, Layout::channels, one_pixel);
  state.emit(build_reduction(x, y, kind), node);
}

/// The view with dimension `axis` last.
std::vector<std::int64_t> order_with_last(std::size_t rank, const std::vector<std::int64_t>& last) {
  std::vector<std::int64_t> order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    if (std::count(last.begin(), last.end(), d) == 0) order.push_back(d);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> result(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    result[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  }
  return result;
}

/// The mapped elements in `rows` layout, the last `count` dimensions joined to one.
PlanTensor joined_rows(LoweringState& state, TensorIndex tensor, const IndexMap& map,
                       std::size_t count) {
  const Shape& whole = map.shape();
  Shape shape(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(count));
  shape.push_back(element_count({whole.end() - static_cast<std::ptrdiff_t>(count), whole.end()}));
  return state.mapped_operand(tensor, reshaped(map, shape), Layout::rows, Reads::once);
}

}  // namespace

void lower_global_pool(LoweringState& state, const GraphNode& node) {
  reduce_map(state, node, node.operation == "GlobalMaxPool" ? Reduction::maximum : Reduction::mean);
}

void lower_reduction(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const std::vector<std::int64_t> axes = attribute_ints(node, "axes");
  const Reduction kind = reductions().at(node.operation);
  if (axes.empty()) return state.alias(output, input, state.map_of(input));
  const Shape& shape = state.shape(input);
  if (state.layout_of(input) == Layout::channels && axes == std::vector<std::int64_t>{2, 3}) {
    return reduce_map(state, node, kind);
  }
  const IndexMap map = transposed(state.map_of(input), order_with_last(shape.size(), axes));
  const PlanTensor x = joined_rows(state, input, map, axes.size());
  Shape reduced = x.shape;
  reduced.back() = 1;
  const PlanTensor y = state.result(output, Layout::rows, reduced);
  state.emit(build_reduction(x, y, kind), node);
}

void lower_softmax(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
  const Shape& shape = state.shape(input);
  const float scale = attribute_float(node, "scale", 1);
  std::optional<PlanTensor> mask;
  if (node.inputs.size() > 1 && node.inputs[1])
    mask = state.operand(*node.inputs[1], Layout::rows, Reads::thrice);
  const PlanTensor* mask_pointer = mask ? &*mask : nullptr;
  if (axis + 1 == shape.size()) {
    const PlanTensor x = state.operand(input, Layout::rows, Reads::thrice);
    const PlanTensor y = state.result(output, Layout::rows);
    return state.emit(build_softmax(x, mask_pointer, scale, y), node);
  }
  if (mask) throw UserError("a mask is only supported over the last dimension");
  if (attribute_int(node, "flattened", 0) != 0) {
    const auto split = shape.begin() + static_cast<std::ptrdiff_t>(axis);
    const Shape flat = {element_count({shape.begin(), split}), element_count({split, shape.end()})};
    const PlanTensor x = state.operand(input, Layout::rows, flat, Reads::thrice);
    const PlanTensor y = state.result(output, Layout::rows, flat);
    return state.emit(build_softmax(x, nullptr, scale, y), node);
  }
  const auto order = order_with_last(shape.size(), {static_cast<std::int64_t>(axis)});
  const PlanTensor x = state.mapped_operand(input, transposed(state.map_of(input), order),
                                            Layout::rows, Reads::thrice);
  const PlanTensor y =
      state.temporary(node.name, Layout::rows, x.shape, state.graph().tensors[output].type);
  state.emit(build_softmax(x, nullptr, scale, y), node);
  state.define(output, y, transposed(IndexMap(y.shape), inverse(order)));
}

void lower_layer_norm(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const Shape& shape = state.shape(input);
  const auto axis = static_cast<std::ptrdiff_t>(attribute_int(node, "axis", -1));
  Shape rows(shape.begin(), shape.begin() + axis);
  rows.push_back(element_count({shape.begin() + axis, shape.end()}));
  const Shape row = {rows.back()};
  const PlanTensor x = state.operand(input, Layout::rows, rows, Reads::thrice);
  const PlanTensor scale = state.operand(node.inputs[1].value(), Layout::rows, row);
  std::optional<PlanTensor> shift;
  if (node.inputs.size() > 2 && node.inputs[2])
    shift = state.operand(*node.inputs[2], Layout::rows, row);
  const PlanTensor y = state.result(output, Layout::rows, rows);
  state.emit(build_layer_norm(x, scale, shift ? &*shift : nullptr,
                              attribute_float(node, "epsilon", 1e-5f), y),
             node);
}

}  // namespace fm
