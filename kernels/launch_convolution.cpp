// build_convolution, build_transposed_convolution and build_pool.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"

namespace fm {
namespace {

void set_geometry(LaunchDraft& draft, const ConvGeometry& geometry, bool window) {
  draft.integer("stride_h", geometry.stride[0]).integer("stride_w", geometry.stride[1]);
  if (!window) return;
  draft.integer("kernel_h", geometry.kernel[0]).integer("kernel_w", geometry.kernel[1]);
  draft.integer("dilation_h", geometry.dilation[0]).integer("dilation_w", geometry.dilation[1]);
  draft.integer("pad_top", geometry.pad[0]).integer("pad_left", geometry.pad[1]);
}

void set_extents(LaunchDraft& draft, const ChannelsView& x, const ChannelsView& y) {
  draft.integer("in_height", x.height).integer("in_width", x.width);
  draft.integer("out_height", y.height).integer("out_width", y.width);
  draft.integer("out_rows", y.batch * y.height);
}

void set_operands(LaunchDraft& draft, const ConvOperands& operands, const std::string& operation) {
  draft.tensor("x", *operands.x).tensor("filter", *operands.filter).tensor("y", *operands.y);
  draft.parameter("BIAS", operands.bias ? 1 : 0);
  if (operands.bias) {
    require_operand(
        rows_view(*operands.bias).columns == operands.y->shape[1], operation,
        "the bias " + describe(*operands.bias) + " does not fit " + describe(*operands.y));
    draft.tensor("bias", *operands.bias);
  }
  draft.epilogue(operands.epilogue, *operands.y);
}

std::int64_t largest_tile(std::int64_t limit, std::int64_t extent) {
  std::int64_t tile = 1;
  while (tile * 2 <= limit && tile * 2 <= extent) tile *= 2;
  return tile;
}

void check_filter(const ConvOperands& operands, Layout layout, const Shape& shape,
                  const std::string& operation) {
  require_operand(operands.filter->layout == layout && operands.filter->shape == shape, operation,
                  "the filter " + describe(*operands.filter) + " must be " + to_string(layout) +
                      " " + to_string(shape));
}

/// Taps that lie outside `x` count too: macs are the operator's.
std::int64_t taps(const ConvGeometry& geometry) {
  return std::int64_t{geometry.kernel[0]} * geometry.kernel[1];
}

PlanLaunch depthwise_launch(const ConvOperands& operands, const ChannelsView& x,
                            const ChannelsView& y, const TileChoice& tile) {
  const ConvGeometry& geometry = operands.geometry;
  require_operand(geometry.groups == x.channels && x.channels == y.channels, "Conv",
                  "groups = " + std::to_string(geometry.groups) + " with " +
                      std::to_string(x.channels) + " input and " + std::to_string(y.channels) +
                      " output channels; supported are groups = 1 and groups = inputs = outputs");
  check_filter(operands, Layout::depthwise_filter,
               {y.channels, 1, geometry.kernel[0], geometry.kernel[1]}, "Conv");
  const std::int64_t tile_w = tile.rows > 0 ? tile.rows : largest_tile(4, y.width);
  require_operand(tile_w <= y.width, "Conv", "the tile is wider than " + describe(*operands.y));
  LaunchDraft draft("depthwise");
  set_operands(draft, operands, "Conv");
  set_extents(draft, x, y);
  set_geometry(draft, geometry, true);
  draft.parameter("TILE_W", tile_w).integer("channels", y.channels);
  const std::array<std::int64_t, 3> extent{divided_up(y.width, tile_w), y.batch * y.height,
                                           y.channels4};
  return draft.finish(extent, choose_local(extent),
                      y.batch * y.channels * y.height * y.width * taps(geometry));
}

}  // namespace

PlanLaunch build_convolution(const ConvOperands& operands, const TileChoice& tile) {
  const ChannelsView x = channels_view(*operands.x), y = channels_view(*operands.y);
  const ConvGeometry& geometry = operands.geometry;
  require_operand(x.batch == y.batch, "Conv", "batches of input and output differ");
  if (geometry.groups != 1) return depthwise_launch(operands, x, y, tile);
  check_filter(operands, Layout::conv_filter,
               {y.channels, x.channels, geometry.kernel[0], geometry.kernel[1]}, "Conv");

  const bool pointwise =
      geometry.kernel == std::array<int, 2>{1, 1} && geometry.pad == std::array<int, 4>{0, 0, 0, 0};
  const std::int64_t wide = operands.filter->placement == Placement::image2d ? 2 : 4;
  const std::int64_t tile_w = tile.rows > 0 ? tile.rows : largest_tile(4, y.width);
  const std::int64_t tile_o4 = tile.columns4 > 0 ? tile.columns4 : largest_tile(wide, y.channels4);
  require_operand(tile_w <= y.width && tile_o4 <= y.channels4, "Conv",
                  "a tile of " + std::to_string(tile_w) + " outputs x " + std::to_string(tile_o4) +
                      " texels is larger than " + describe(*operands.y));
  LaunchDraft draft("conv");
  set_operands(draft, operands, "Conv");
  set_extents(draft, x, y);
  set_geometry(draft, geometry, !pointwise);
  draft.parameter("TILE_W", tile_w).parameter("TILE_O4", tile_o4);
  draft.parameter("POINTWISE", pointwise ? 1 : 0);
  draft.integer("in_channels4", x.channels4).integer("out_channels", y.channels);
  const std::array<std::int64_t, 3> extent{divided_up(y.width, tile_w), y.batch * y.height,
                                           divided_up(y.channels4, tile_o4)};
  return draft.finish(extent, choose_local(extent),
                      y.batch * y.channels * y.height * y.width * x.channels * taps(geometry));
}

PlanLaunch build_transposed_convolution(const ConvOperands& operands) {
  const ChannelsView x = channels_view(*operands.x), y = channels_view(*operands.y);
  const ConvGeometry& geometry = operands.geometry;
  require_operand(geometry.groups == 1, "ConvTranspose", "groups must be 1");
  require_operand(x.batch == y.batch, "ConvTranspose", "batches of input and output differ");
  check_filter(operands, Layout::conv_filter,
               {y.channels, x.channels, geometry.kernel[0], geometry.kernel[1]}, "ConvTranspose");
  LaunchDraft draft("transposed_conv");
  set_operands(draft, operands, "ConvTranspose");
  set_extents(draft, x, y);
  set_geometry(draft, geometry, true);
  draft.integer("in_channels4", x.channels4).integer("out_channels", y.channels);
  const std::array<std::int64_t, 3> extent{y.width, y.batch * y.height, y.channels4};
  return draft.finish(extent, choose_local(extent),
                      x.batch * x.channels * x.height * x.width * y.channels * taps(geometry));
}

PlanLaunch build_pool(const PlanTensor& x_tensor, const PlanTensor& y_tensor,
                      const ConvGeometry& geometry, PoolKind kind) {
  const ChannelsView x = channels_view(x_tensor), y = channels_view(y_tensor);
  require_operand(
      x.batch == y.batch && x.channels == y.channels, "Pool",
      "batch and channels of " + describe(x_tensor) + " and " + describe(y_tensor) + " differ");
  LaunchDraft draft("pool");
  draft.tensor("x", x_tensor).tensor("y", y_tensor).integer("channels", y.channels);
  set_extents(draft, x, y);
  set_geometry(draft, geometry, true);
  draft.parameter("KIND", kind == PoolKind::maximum ? "MAXIMUM" : "AVERAGE");
  draft.parameter("INCLUDE_PAD", kind == PoolKind::average_include_pad ? 1 : 0);
  const std::array<std::int64_t, 3> extent{y.width, y.batch * y.height, y.channels4};
  return draft.finish(extent, choose_local(extent));
}

}  // namespace fm
