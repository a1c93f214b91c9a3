// Convolutions, pooling and resizing: `channels` layout throughout.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

ConvGeometry geometry_of(const GraphNode& node) {
  const auto kernel = attribute_ints(node, "kernel_shape"),
             stride = attribute_ints(node, "strides");
  const auto dilation = attribute_ints(node, "dilations"), pad = attribute_ints(node, "pads");
  ConvGeometry geometry;
  for (std::size_t d = 0; d < 2; ++d) {
    geometry.kernel[d] = static_cast<int>(kernel[d]);
    geometry.stride[d] = static_cast<int>(stride[d]);
    geometry.dilation[d] = static_cast<int>(dilation[d]);
    geometry.pad[d] = static_cast<int>(pad[d]);
    geometry.pad[2 + d] = static_cast<int>(pad[2 + d]);
  }
  geometry.groups = static_cast<int>(attribute_int(node, "group", 1));
  return geometry;
}

std::optional<PlanTensor> residual_of(LoweringState& state, const GraphNode& node, Layout layout) {
  if (node.inputs.size() < 4 || !node.inputs[3]) return std::nullopt;
  return state.operand(*node.inputs[3], layout, Reads::once);
}

std::optional<PlanTensor> bias_of(LoweringState& state, const GraphNode& node) {
  if (node.inputs.size() < 3 || !node.inputs[2]) return std::nullopt;
  const Shape channels = {element_count(state.shape(*node.inputs[2]))};
  return state.operand(*node.inputs[2], Layout::rows, channels);
}

/// The shape [O, I, Kh, Kw] of a filter, which says how a computed one was laid out as rows.
Shape filter_shape(const LoweringState& state, const GraphNode& node) {
  Shape shape = attribute_ints(node, "filter");
  if (shape.empty()) return state.shape(node.inputs[1].value());
  if (node.operation == "ConvTranspose") std::swap(shape[0], shape[1]);
  return shape;
}

PlanTensor filter_of(LoweringState& state, const GraphNode& node, Layout layout) {
  const TensorIndex filter = node.inputs[1].value();
  if (attribute_ints(node, "filter").empty()) return state.operand(filter, layout);
  PlanTensor computed = state.operand(filter, Layout::rows);
  computed.layout = layout;
  computed.shape = filter_shape(state, node);
  return computed;
}

std::uint64_t macs_of(const Shape& filter, std::int64_t positions) {
  return static_cast<std::uint64_t>(element_count(filter) * positions);
}

NearestRounding rounding_of(const std::string& word) {
  if (word == "floor") return NearestRounding::floor;
  if (word == "ceil") return NearestRounding::ceil;
  if (word == "round_prefer_floor") return NearestRounding::round_prefer_floor;
  if (word == "round_prefer_ceil") return NearestRounding::round_prefer_ceil;
  throw UserError("nearest_mode `" + word + "` is not supported");
}

ResizeCoordinates coordinates_of(const std::string& word) {
  if (word == "asymmetric") return ResizeCoordinates::asymmetric;
  if (word == "half_pixel") return ResizeCoordinates::half_pixel;
  if (word == "pytorch_half_pixel") return ResizeCoordinates::pytorch_half_pixel;
  if (word == "align_corners") return ResizeCoordinates::align_corners;
  throw UserError("coordinate_transformation_mode `" + word + "` is not supported");
}

const PlanTensor* pointer_to(const std::optional<PlanTensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

}  // namespace

void lower_convolution(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const ConvGeometry geometry = geometry_of(node);
  const Shape filter = filter_shape(state, node);
  const bool depthwise = geometry.groups > 1 && geometry.groups == state.shape(input)[1] &&
                         geometry.groups == filter[0];
  if (geometry.groups > 1 && !depthwise) {
    throw UserError(std::to_string(geometry.groups) +
                    " groups are not supported: only 1, or as many as input and output channels");
  }
  const PlanTensor x = state.operand(input, Layout::channels);
  const PlanTensor weights =
      filter_of(state, node, depthwise ? Layout::depthwise_filter : Layout::conv_filter);
  const std::optional<PlanTensor> bias = bias_of(state, node);
  const std::optional<PlanTensor> residual = residual_of(state, node, Layout::channels);
  const PlanTensor y = state.result(output, Layout::channels);
  ConvOperands operands{&x, &weights, pointer_to(bias), &y, geometry, epilogue_of(node)};
  operands.epilogue.residual = pointer_to(residual);
  const Shape& out = state.shape(output);
  state.emit(build_convolution(operands), node, macs_of(filter, out[0] * out[2] * out[3]));
}

/// The filter is [O, I, Kh, Kw] here: the normalisation pass swapped ONNX's [I, O, ..].
void lower_transposed_convolution(LoweringState& state, const GraphNode& node) {
  const TensorIndex input = node.inputs[0].value(), output = node.outputs[0];
  const PlanTensor x = state.operand(input, Layout::channels);
  const PlanTensor weights = filter_of(state, node, Layout::conv_filter);
  const std::optional<PlanTensor> bias = bias_of(state, node);
  const std::optional<PlanTensor> residual = residual_of(state, node, Layout::channels);
  const PlanTensor y = state.result(output, Layout::channels);
  ConvOperands operands{&x, &weights, pointer_to(bias), &y, geometry_of(node), epilogue_of(node)};
  operands.epilogue.residual = pointer_to(residual);
  const Shape& in = state.shape(input);
  state.emit(build_transposed_convolution(operands), node,
             macs_of(filter_shape(state, node), in[0] * in[2] * in[3]));
}

void lower_pool(LoweringState& state, const GraphNode& node) {
  const PlanTensor x = state.operand(node.inputs[0].value(), Layout::channels);
  const PlanTensor y = state.result(node.outputs[0], Layout::channels);
  PoolKind kind = PoolKind::maximum;
  if (node.operation == "AveragePool") {
    kind = attribute_int(node, "count_include_pad", 0) != 0 ? PoolKind::average_include_pad
                                                            : PoolKind::average;
  }
  state.emit(build_pool(x, y, geometry_of(node), kind), node);
}

void lower_resize(LoweringState& state, const GraphNode& node) {
  const std::string mode = attribute_word(node, "mode", "nearest");
  if (mode != "nearest" && mode != "linear")
    throw UserError("mode `" + mode + "` is not supported");
  const PlanTensor x = state.operand(node.inputs[0].value(), Layout::channels);
  const PlanTensor y = state.result(node.outputs[0], Layout::channels);
  const auto& scales = std::get<std::vector<float>>(node.attributes.at("scales"));
  state.emit(
      build_resize(
          x, y, mode == "linear" ? ResizeMode::linear : ResizeMode::nearest,
          coordinates_of(attribute_word(node, "coordinate_transformation_mode", "asymmetric")),
          rounding_of(attribute_word(node, "nearest_mode", "floor")), {scales[0], scales[1]}),
      node);
}

}  // namespace fm
