// Operators over height and width of [N, C, H, W] tensors: convolution, pooling, resizing.
#include <cmath>

#include "planner/node_attributes.hpp"
#include "planner/operator_table.hpp"

namespace fm {
namespace {

using Ints = std::vector<std::int64_t>;

struct Window {
  Ints kernel, strides, dilations, pads;  ///< pads: top, left, bottom, right
};

/// Pads of auto_pad SAME_UPPER/SAME_LOWER for one dimension: output = ceil(input / stride).
std::pair<std::int64_t, std::int64_t> same_pads(std::int64_t input, std::int64_t reach,
                                                std::int64_t stride, bool upper) {
  const std::int64_t output = (input + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>(0, (output - 1) * stride + reach - input);
  const std::int64_t small = total / 2;
  return upper ? std::make_pair(small, total - small) : std::make_pair(total - small, small);
}

/// The window's attributes, auto_pad resolved and stored back so that lowering reads explicit
/// numbers.
Window resolve_window(NodeContext& context, const Ints& kernel) {
  context.require_rank(0, 4);
  GraphNode& node = context.node;
  Window window{kernel, attribute_ints(node, "strides", {1, 1}),
                attribute_ints(node, "dilations", {1, 1}),
                attribute_ints(node, "pads", {0, 0, 0, 0})};
  if (window.kernel.size() != 2 || window.strides.size() != 2 || window.dilations.size() != 2 ||
      window.pads.size() != 4) {
    context.refuse("only two-dimensional windows are supported");
  }
  const std::string automatic = attribute_word(node, "auto_pad", "NOTSET");
  for (std::size_t d = 0; d < 2; ++d) {
    if (window.strides[d] < 1 || window.dilations[d] < 1 || window.kernel[d] < 1 ||
        window.pads[d] < 0 || window.pads[2 + d] < 0) {
      context.refuse("kernel, strides and dilations must be positive, pads not negative");
    }
    if (automatic == "VALID") {
      window.pads[d] = window.pads[2 + d] = 0;
    } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
      std::tie(window.pads[d], window.pads[2 + d]) =
          same_pads(context.shape(0)[2 + d], reach, window.strides[d], automatic == "SAME_UPPER");
    } else if (automatic != "NOTSET") {
      context.refuse("auto_pad `" + automatic +
                     "` is not one of NOTSET, VALID, SAME_UPPER, SAME_LOWER");
    }
  }
  node.attributes["kernel_shape"] = window.kernel;
  node.attributes["strides"] = window.strides;
  node.attributes["dilations"] = window.dilations;
  node.attributes["pads"] = window.pads;
  node.attributes.erase("auto_pad");
  return window;
}

/// Output extent of a window sliding over dimension d (0: height, 1: width).
std::int64_t slid_extent(NodeContext& context, const Window& window, std::size_t d, bool ceiling) {
  const std::int64_t padded = context.shape(0)[2 + d] + window.pads[d] + window.pads[2 + d];
  const std::int64_t reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
  if (padded < reach) {
    context.refuse("its window of " + std::to_string(reach) + " does not fit the padded input of " +
                   std::to_string(padded));
  }
  const std::int64_t room = padded - reach;
  std::int64_t extent = room / window.strides[d] + 1;
  if (ceiling && room % window.strides[d] != 0) {
    // The last window must start inside the input or its leading padding.
    if (extent * window.strides[d] < context.shape(0)[2 + d] + window.pads[d]) ++extent;
  }
  return extent;
}

void check_bias(NodeContext& context, std::int64_t outputs) {
  if (context.has(2) && context.shape(2) != Shape{outputs}) {
    context.refuse("bias has shape " + to_string(context.shape(2)) + ", but [" +
                   std::to_string(outputs) + "] is wanted");
  }
}

/// The filter's shape; a computed filter lies otherwise (expand_spatial.cpp).
Shape filter_shape(NodeContext& context) {
  const Ints laid_out = attribute_ints(context.node, "filter");
  return laid_out.empty() ? context.shape(1) : laid_out;
}

Ints filter_window(NodeContext& context) {
  context.require_rank(0, 4);
  const Shape filter = filter_shape(context);
  if (filter.size() != 4) context.require_rank(1, 4);
  const Ints kernel = {filter[2], filter[3]};
  if (attribute_ints(context.node, "kernel_shape", kernel) != kernel) {
    context.refuse("kernel_shape differs from the filter's shape " + to_string(filter));
  }
  return kernel;
}

std::vector<TensorFacts> resolve_convolution(NodeContext& context) {
  const Window window = resolve_window(context, filter_window(context));
  const std::int64_t groups = attribute_int(context.node, "group", 1);
  const Shape filter = filter_shape(context);
  const std::int64_t channels = context.shape(0)[1];
  if (groups < 1 || channels % groups != 0 || filter[1] != channels / groups ||
      filter[0] % groups != 0) {
    context.refuse("filter " + to_string(filter) + " in " + std::to_string(groups) +
                   " groups does not fit " + std::to_string(channels) + " input channels");
  }
  check_bias(context, filter[0]);
  return {{context.type(0),
           {context.shape(0)[0], filter[0], slid_extent(context, window, 0, false),
            slid_extent(context, window, 1, false)}}};
}

std::vector<TensorFacts> resolve_transposed_convolution(NodeContext& context) {
  const Window window = resolve_window(context, filter_window(context));
  const Shape filter = filter_shape(context);
  if (filter[0] != context.shape(0)[1]) {
    context.refuse("filter " + to_string(filter) + " does not fit " +
                   std::to_string(context.shape(0)[1]) + " input channels");
  }
  check_bias(context, filter[1]);
  const Ints extra = attribute_ints(context.node, "output_padding", {0, 0});
  Shape shape = {context.shape(0)[0], filter[1], 0, 0};
  for (std::size_t d = 0; d < 2; ++d) {
    shape[2 + d] = window.strides[d] * (context.shape(0)[2 + d] - 1) + extra[d] +
                   (window.kernel[d] - 1) * window.dilations[d] + 1 - window.pads[d] -
                   window.pads[2 + d];
    if (shape[2 + d] < 1) context.refuse("its output would be empty");
  }
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_pool(NodeContext& context) {
  const Window window = resolve_window(context, attribute_ints(context.node, "kernel_shape"));
  const bool ceiling = attribute_int(context.node, "ceil_mode", 0) != 0;
  return {{context.type(0),
           {context.shape(0)[0], context.shape(0)[1], slid_extent(context, window, 0, ceiling),
            slid_extent(context, window, 1, ceiling)}}};
}

std::vector<TensorFacts> resolve_global_pool(NodeContext& context) {
  context.require_rank(0, 4);
  return {{context.type(0), {context.shape(0)[0], context.shape(0)[1], 1, 1}}};
}

/// Becomes mode, coordinate_transformation_mode, nearest_mode and floats `scales` of height and
/// width.
std::vector<TensorFacts> resolve_resize(NodeContext& context) {
  context.require_rank(0, 4);
  GraphNode& node = context.node;
  const bool upsample = node.operation == "Upsample" || context.opset() < 11;
  const Shape& input = context.shape(0);
  const std::size_t scales_input = upsample ? 1 : 2;
  std::vector<float> scales;
  if (context.has(scales_input)) scales = context.constant_reals(scales_input);
  if (const auto given = node.attributes.find("scales"); given != node.attributes.end()) {
    if (const auto* values = std::get_if<std::vector<float>>(&given->second)) scales = *values;
  }
  Shape shape = input;
  if (scales.empty()) {
    if (upsample || !context.has(3)) context.refuse("gives neither scales nor sizes");
    shape = context.constant_ints(3);
    if (shape.size() != 4) context.refuse("sizes must hold four numbers");
    for (std::size_t d = 0; d < 4; ++d) {
      scales.push_back(static_cast<float>(shape[d]) / static_cast<float>(input[d]));
    }
  } else {
    if (scales.size() != 4) context.refuse("scales must hold four numbers");
    for (std::size_t d = 0; d < 4; ++d) {
      shape[d] = static_cast<std::int64_t>(std::floor(static_cast<float>(input[d]) * scales[d]));
    }
  }
  if (shape[0] != input[0] || shape[1] != input[1]) {
    context.refuse("only height and width can be resized");
  }
  node.operation = "Resize";
  node.attributes = {
      {"mode", attribute_word(node, "mode", "nearest")},
      {"coordinate_transformation_mode", attribute_word(node, "coordinate_transformation_mode",
                                                        upsample ? "asymmetric" : "half_pixel")},
      {"nearest_mode",
       attribute_word(node, "nearest_mode", upsample ? "floor" : "round_prefer_floor")},
      {"scales", std::vector<float>{scales[2], scales[3]}}};
  context.keep_inputs(1);
  return {{context.type(0), shape}};
}

}  // namespace

void add_spatial_operators(OperatorTable* table) {
  (*table)["Conv"] = {2, 3, resolve_convolution, false};
  (*table)["ConvTranspose"] = {2, 3, resolve_transposed_convolution, false};
  (*table)["MaxPool"] = {1, 1, resolve_pool, false};
  (*table)["AveragePool"] = {1, 1, resolve_pool, false};
  (*table)["GlobalAveragePool"] = {1, 1, resolve_global_pool, false};
  (*table)["GlobalMaxPool"] = {1, 1, resolve_global_pool, false};
  (*table)["Resize"] = {1, 4, resolve_resize, false};
  (*table)["Upsample"] = {1, 2, resolve_resize, false};
}

}  // namespace fm
