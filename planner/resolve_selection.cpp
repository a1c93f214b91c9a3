// Operators that take or join parts of tensors: slices, concatenation, gather, padding.
#include <algorithm>
#include <limits>
#include <numeric>

#include "planner/node_attributes.hpp"
#include "planner/operator_table.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

/// Start and number of elements of one sliced dimension, clamped as ONNX does.
std::pair<std::int64_t, std::int64_t> sliced_range(std::int64_t start, std::int64_t end,
                                                   std::int64_t step, std::int64_t extent) {
  const auto wrapped = [extent](std::int64_t value) {
    return value < 0 && value >= -extent ? value + extent : value;
  };
  start = wrapped(start);
  end = wrapped(end);
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, extent);
    end = std::clamp<std::int64_t>(end, 0, extent);
    return {start, std::max<std::int64_t>(0, (end - start + step - 1) / step)};
  }
  start = std::clamp<std::int64_t>(start, -1, extent - 1);
  end = std::clamp<std::int64_t>(end, -1, extent - 1);
  // cppcheck-suppress zerodivcond ; resolve_slice() refuses steps of 0
  return {start, std::max<std::int64_t>(0, (end - start + step + 1) / step)};
}

/// Becomes `starts` and `steps` for every dimension; the output's shape holds the extents.
std::vector<TensorFacts> resolve_slice(NodeContext& context) {
  const std::int64_t rank = context.rank(0);
  const std::vector<std::int64_t> starts = context.ints("starts", 1);
  const std::vector<std::int64_t> ends = context.ints("ends", 2);
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = context.ints("axes", 3, axes);
  const std::vector<std::int64_t> steps =
      context.ints("steps", 4, std::vector<std::int64_t>(starts.size(), 1));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    context.refuse("starts, ends, axes and steps differ in length");
  }
  std::vector<std::int64_t> all_starts(static_cast<std::size_t>(rank), 0);
  std::vector<std::int64_t> all_steps(static_cast<std::size_t>(rank), 1);
  Shape shape = context.shape(0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto d = static_cast<std::size_t>(context.axis(axes[i], rank));
    if (steps[i] == 0) context.refuse("a step is zero");
    // A step beyond the dimension takes one element, however large it is.
    const std::int64_t far = std::max<std::int64_t>(context.shape(0)[d], 1);
    all_steps[d] = std::clamp(steps[i], -far, far);
    std::tie(all_starts[d], shape[d]) =
        sliced_range(starts[i], ends[i], all_steps[d], context.shape(0)[d]);
  }
  context.node.attributes = {{"starts", all_starts}, {"steps", all_steps}};
  context.keep_inputs(1);
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_concat(NodeContext& context) {
  const std::int64_t otherwise = context.opset() < 4 ? 1 : 0;
  const std::int64_t axis =
      context.axis(attribute_int(context.node, "axis", otherwise), context.rank(0));
  const auto d = static_cast<std::size_t>(axis);
  Shape shape = context.shape(0);
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    Shape other = context.shape(i);
    if (other.size() == shape.size()) {
      shape[d] += other[d];
      other[d] = shape[d];
    }
    if (other != shape) {
      context.refuse("cannot join " + to_string(context.shape(i)) + " to " +
                     to_string(context.shape(0)) + " along axis " + std::to_string(axis));
    }
  }
  context.node.attributes = {{"axis", axis}};
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_gather(NodeContext& context) {
  const std::int64_t axis = context.axis(attribute_int(context.node, "axis", 0), context.rank(0));
  Shape shape = context.shape(0);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, context.shape(1).begin(), context.shape(1).end());
  context.node.attributes = {{"axis", axis}};
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_gather_elements(NodeContext& context) {
  return {{context.type(0), context.shape(1)}};
}

std::vector<TensorFacts> resolve_like_first(NodeContext& context) {
  return {{context.type(0), context.shape(0)}};
}

/// Becomes `pads` (begins, then ends) and `value`; only constant padding is supported.
std::vector<TensorFacts> resolve_pad(NodeContext& context) {
  if (attribute_word(context.node, "mode", "constant") != "constant") {
    context.refuse("only mode `constant` is supported");
  }
  float value = attribute_float(context.node, "value", 0);
  if (context.has(2)) {
    value = is_real(context.type(2)) ? context.constant_real(2)
                                     : static_cast<float>(context.constant_int(2));
  }
  const std::vector<std::int64_t> pads = context.ints("pads", 1);
  Shape shape = context.shape(0);
  if (pads.size() != 2 * shape.size()) context.refuse("pads must hold two numbers a dimension");
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (pads[d] < 0 || pads[shape.size() + d] < 0)
      context.refuse("negative pads are not supported");
    if (std::max(pads[d], pads[shape.size() + d]) > largest_tensor) {
      context.refuse("pads must be at most 2^40");
    }
    shape[d] += pads[d] + pads[shape.size() + d];
  }
  context.node.attributes = {{"pads", pads}, {"value", value}};
  context.keep_inputs(1);
  return {{context.type(0), shape}};
}

}  // namespace

void add_selection_operators(OperatorTable* table) {
  (*table)["Slice"] = {1, 5, resolve_slice, false};
  (*table)["Concat"] = {1, std::numeric_limits<std::size_t>::max(), resolve_concat, false};
  (*table)["Gather"] = {2, 2, resolve_gather, false};
  (*table)["GatherElements"] = {2, 2, resolve_gather_elements, false};
  (*table)["ScatterElements"] = {3, 3, resolve_like_first, false};
  (*table)["CumSum"] = {1, 1, resolve_like_first, false};
  (*table)["Pad"] = {1, 4, resolve_pad, false};
}

}  // namespace fm
