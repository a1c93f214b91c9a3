#pragma once
// From an operator and its placed tensors to a launch: kernel, compile-time parameters, geometry
// and arguments. The builders are the catalogue's geometry; the planner calls them and adds ids,
// dependencies and claims. All throw UserError (naming the operator's limits) for combinations no
// kernel serves.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Applied to the result of an operator before it is stored. `alpha`, `beta`: hard_sigmoid
/// clamp(alpha x + beta, 0, 1); leaky_relu slope alpha; clip to [alpha, beta]; hard_swish x *
/// clamp(alpha x + beta, 0, 1); is_inf alpha where +inf, beta where -inf; thresholded_relu x above
/// alpha; selu beta * (x or alpha (e^x - 1)); shrink x -/+ beta beyond +/- alpha.
enum class Activation {
  none,
  relu,
  gelu_erf,
  gelu_tanh,
  sigmoid,
  hard_sigmoid,
  hard_swish,
  clip,
  tanh,
  silu,
  leaky_relu,
  exp,
  log,
  sqrt,
  reciprocal,
  neg,
  abs,
  erf,
  floor,
  ceil,
  elu,
  softplus,
  swish_one,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  sign,
  round,
  truncate,
  is_nan,
  is_inf,
  logical_not,
  nonzero,
  thresholded_relu,
  selu,
  celu,
  softsign,
  shrink
};
struct Epilogue {
  Activation activation = Activation::none;
  float alpha = 0, beta = 0;
  const PlanTensor* residual = nullptr;  ///< added to the result; same shape, layout as the output
  bool activation_after_residual =
      false;  ///< ResNet: relu(conv + x); ViT: x + matmul (activation before or none)
};

/// Tile sizes and local memory use of matmul-like kernels; 0 = the builder's default for these
/// operands.
struct TileChoice {
  int rows = 0;      ///< output rows (convolutions: neighbours along W) a work-item
  int columns4 = 0;  ///< output texels (4 columns, 4 output channels) a work-item
  bool local_memory = false;
};

/// c[b, m, n] = act(scale * sum_k a[b, m, k] * B[b, k, n] + bias[n]) (+ residual). `rows` layout
/// everywhere. `b` holds [.., K, N], or [.., N, K] when `b_transposed`. Batch dimensions are equal,
/// or b has none.
struct MatmulOperands {
  const PlanTensor* a;
  const PlanTensor* b;
  bool b_transposed = false;
  const PlanTensor* bias = nullptr;  ///< [N], rows layout
  float scale = 1;
  const PlanTensor* c;
  Epilogue epilogue;
};
PlanLaunch build_matmul(const MatmulOperands& operands, const TileChoice& tile = {});

/// The mask leaves to query q keys q - behind to q + ahead at most; each has one.
struct KeyBand {
  std::int64_t behind = 0, ahead = 0;
};
/// y[b, q] = sum_k softmax_k(scale * <query[b, q], key[b, k]> + mask[b, q])[k] * value[b, k]: the
/// scores are never stored. query [B.., Q, D], key [B.., K, D], value [B.., K, V], y [B.., Q, V];
/// mask [.., Q or 1, K], broadcast over leading dimensions. `rows` layout everywhere.
struct AttentionOperands {
  const PlanTensor* query;
  const PlanTensor* key;
  const PlanTensor* value;
  const PlanTensor* mask = nullptr;
  std::optional<KeyBand> band;  ///< of the mask, if known
  float scale = 1;
  const PlanTensor* y;
};
/// 0 = the builder's default: 4 queries, which is few enough registers for a phone, in images one
/// texel of scores and of y a work-item, in buffers two and four.
struct AttentionTile {
  int queries = 0;  ///< rows of y a work-item: 1, 2, 4 or 8
  int keys4 = 0;    ///< texels of scores a row and work-item: 1, 2 or 4
  int group_x = 0;  ///< work-items that share those rows: a power of two up to 32
  int group_y = 0;  ///< such teams a work-group
};
PlanLaunch build_attention(const AttentionOperands& operands, const AttentionTile& tile = {});

struct ConvGeometry {
  std::array<int, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  std::array<int, 4> pad{0, 0, 0, 0};  ///< top, left, bottom, right
  int groups = 1;
};
/// x, y: `channels`; filter: `conv_filter` (groups == 1) or `depthwise_filter` (groups == C == O);
/// bias [O] `rows`.
struct ConvOperands {
  const PlanTensor* x;
  const PlanTensor* filter;
  const PlanTensor* bias = nullptr;
  const PlanTensor* y;
  ConvGeometry geometry;
  Epilogue epilogue;
};
PlanLaunch build_convolution(const ConvOperands& operands, const TileChoice& tile = {});
/// Filter given as `conv_filter` of shape [O, I, Kh, Kw] (the importer swaps ONNX's [I, O, ..]);
/// groups == 1.
PlanLaunch build_transposed_convolution(const ConvOperands& operands);

enum class PoolKind { maximum, average, average_include_pad };
PlanLaunch build_pool(const PlanTensor& x, const PlanTensor& y, const ConvGeometry& geometry,
                      PoolKind kind);

enum class Reduction { sum, mean, maximum, minimum, product, l2, sum_square };
/// Over H and W of a `channels` tensor (y [N, C, 1, 1]) or over the last dimension of a `rows`
/// tensor (y [.., 1]).
PlanLaunch build_reduction(const PlanTensor& x, const PlanTensor& y, Reduction kind);

/// Over the last dimension of a `rows` tensor: softmax(scale * x + mask). mask: broadcast over
/// leading dimensions.
PlanLaunch build_softmax(const PlanTensor& x, const PlanTensor* mask, float scale,
                         const PlanTensor& y);
/// Over the last dimension of a `rows` tensor; scale and shift are [K] `rows` tensors.
PlanLaunch build_layer_norm(const PlanTensor& x, const PlanTensor& scale, const PlanTensor* shift,
                            float epsilon, const PlanTensor& y);

PlanLaunch build_unary(const PlanTensor& x, const PlanTensor& y, const Epilogue& epilogue);
/// Comparisons and logic give 0 and 1. integer_divide truncates; modulo has the sign of the
/// divisor, remainder of the dividend; prelu: x0, or x1 * x0 below zero; pick: x1 where x0 is not
/// 0, else 0; pick_other: x1 where x0 is 0.
enum class BinaryOperator {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  power,
  equal,
  less,
  less_or_equal,
  logical_and,
  logical_or,
  logical_xor,
  prelu,
  integer_divide,
  integer_power,
  modulo,
  remainder,
  pick,
  pick_other
};
/// NumPy broadcasting of either side onto y; x0, x1, y in one layout (rows or channels); epilogue
/// on the result. In `rows` the leading dimensions of an operand may be kept and broadcast in up to
/// three runs.
PlanLaunch build_binary(const PlanTensor& x0, const PlanTensor& x1, const PlanTensor& y,
                        BinaryOperator op, const Epilogue& epilogue);

/// y[i0, i1, ..] = x.flat[offset + sum_d i_d * strides[d]]: transpose, slice, expand, reshape,
/// layout and dtype change, between any two of linear, rows and channels. strides: one per
/// dimension of y, in elements of x's row-major order; at most 6 dimensions.
PlanLaunch build_move(const PlanTensor& x, const PlanTensor& y,
                      const std::vector<std::int64_t>& strides, std::int64_t offset = 0);
/// As build_move, but writes only rows/channels/elements [start, start + extent of x along axis) of
/// y (concat, pad): x and y in one layout. Along the lane dimension (last of rows, channels of
/// channels) start must be a multiple of 4, and x's extent too unless it ends with y: other
/// concatenations go through linear tensors.
PlanLaunch build_place(const PlanTensor& x, const PlanTensor& y, int axis, std::int64_t start);
/// y = x taken along `axis` at indices (an i32 `linear` tensor); x and y both rows (any axis but
/// the last) or both linear.
PlanLaunch build_gather(const PlanTensor& x, const PlanTensor& indices, const PlanTensor& y,
                        int axis);
/// y[.., p, ..] = x[.., indices[.., p, ..], ..]: an index for each element; all linear.
PlanLaunch build_gather_elements(const PlanTensor& x, const PlanTensor& indices,
                                 const PlanTensor& y, int axis);

enum class ScatterCombination { replace, add, multiply };
/// y = x, but for each element of `updates` combined into the place along `axis` that `indices`
/// names, in order; indices like the updates, or (shared) one number a slice of them. All linear.
/// Numbers outside the axis name no place.
PlanLaunch build_scatter(const PlanTensor& x, const PlanTensor& indices, const PlanTensor& updates,
                         const PlanTensor& y, int axis, ScatterCombination combination);

/// Sums of all elements up to each along `axis`, itself left out if exclusive; from the end if
/// reverse. Linear.
PlanLaunch build_scan(const PlanTensor& x, const PlanTensor& y, int axis, bool exclusive,
                      bool reverse);

enum class ResizeMode { nearest, linear };
enum class ResizeCoordinates { asymmetric, half_pixel, pytorch_half_pixel, align_corners };
enum class NearestRounding { floor, ceil, round_prefer_floor, round_prefer_ceil };
/// H and W of `channels` tensors; scale = output / input size unless given.
PlanLaunch build_resize(const PlanTensor& x, const PlanTensor& y, ResizeMode mode,
                        ResizeCoordinates coordinates, NearestRounding rounding,
                        std::array<float, 2> scales);

}  // namespace fm
