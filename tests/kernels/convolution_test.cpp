// conv, depthwise, transposed_conv and pool against sums over their definitions.
#include "core/diagnostics.hpp"
#include "kernels/launch_tiles.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

struct ConvCase {
  Shape x;  // [N, C, H, W]
  std::int64_t outputs = 1;
  ConvGeometry geometry;
  bool bias = true, residual = false;
  Activation activation = Activation::none;
};

std::int64_t out_extent(const ConvGeometry& g, std::size_t d, std::int64_t in) {
  const std::int64_t reach = std::int64_t{g.dilation[d]} * (g.kernel[d] - 1) + 1;
  return (in + g.pad[d] + g.pad[d + 2] - reach) / g.stride[d] + 1;
}

/// Calls visit(kh, kw, input row, input column) for the taps of output (h, w) that lie inside.
template <class Visit>
void for_each_tap(const ConvGeometry& g, const Shape& x, std::int64_t h, std::int64_t w,
                  const Visit& visit) {
  for (int kh = 0; kh < g.kernel[0]; ++kh) {
    for (int kw = 0; kw < g.kernel[1]; ++kw) {
      const std::int64_t row = h * g.stride[0] + kh * g.dilation[0] - g.pad[0];
      const std::int64_t column = w * g.stride[1] + kw * g.dilation[1] - g.pad[1];
      if (row >= 0 && row < x[2] && column >= 0 && column < x[3]) visit(kh, kw, row, column);
    }
  }
}

ConvOperands operands_of(const HostTensor& x, const HostTensor& filter, const HostTensor& bias,
                         const HostTensor& residual, const HostTensor& y, const ConvCase& c) {
  ConvOperands operands;
  operands.x = &x.plan;
  operands.filter = &filter.plan;
  if (c.bias) operands.bias = &bias.plan;
  operands.y = &y.plan;
  operands.geometry = c.geometry;
  operands.epilogue.activation = c.activation;
  if (c.residual) operands.epilogue.residual = &residual.plan;
  operands.epilogue.activation_after_residual = true;
  return operands;
}

double finished(const ConvCase& c, double sum, float bias, float residual) {
  if (c.bias) sum += bias;
  if (c.residual) sum += residual;
  return c.activation == Activation::relu ? std::max(sum, 0.0) : sum;
}

/// `wide`: the tile instead of the builder's.
void check_convolution(const ConvCase& c, const Storage& storage, const TileChoice& tile = {},
                       const std::optional<LaunchTile>& wide = {}) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(c.x));
  const bool depthwise = c.geometry.groups != 1;
  const Shape out{c.x[0], c.outputs, out_extent(c.geometry, 0, c.x[2]),
                  out_extent(c.geometry, 1, c.x[3])};
  HostTensor x = random_tensor("x", Layout::channels, c.x, storage);
  HostTensor filter = random_tensor(
      "filter", depthwise ? Layout::depthwise_filter : Layout::conv_filter,
      {c.outputs, depthwise ? 1 : c.x[1], c.geometry.kernel[0], c.geometry.kernel[1]}, storage);
  HostTensor bias = random_tensor("bias", Layout::rows, {c.outputs}, storage);
  HostTensor residual = random_tensor("residual", Layout::channels, out, storage);
  HostTensor y = make_tensor("y", Layout::channels, out, storage);
  PlanLaunch launch = build_convolution(operands_of(x, filter, bias, residual, y, c), tile);
  if (wide) launch = with_tile(launch, *wide);
  EXPECT_EQ(launch.macs, static_cast<std::uint64_t>(element_count(out) *
                                                    element_count(filter.plan.shape) / c.outputs));
  run(launch, {&x, &filter, &bias, &residual, &y});

  std::vector<double> expected;
  for_each_index(out, [&](const Shape& at) {
    double sum = 0;
    for_each_tap(c.geometry, c.x, at[2], at[3],
                 [&](int kh, int kw, std::int64_t row, std::int64_t column) {
                   for (std::int64_t i = 0; i < filter.plan.shape[1]; ++i) {
                     const std::int64_t channel = depthwise ? at[1] : i;
                     sum += double{x.values[flat_index(c.x, {at[0], channel, row, column})]} *
                            filter.values[flat_index(filter.plan.shape, {at[1], i, kh, kw})];
                   }
                 });
    expected.push_back(finished(c, sum, bias.values[static_cast<std::size_t>(at[1])],
                                residual.values[flat_index(out, at)]));
  });
  expect_values(y, expected, 1e-5);
}

TEST(Convolution, ServesAnyWindow) {
  ConvCase c;
  c.x = {2, 7, 11, 13};
  c.outputs = 21;
  c.geometry.kernel = {3, 3};
  c.geometry.pad = {1, 1, 1, 1};
  c.activation = Activation::relu;
  c.residual = true;
  check_convolution(c, half_buffer);
  check_convolution(c, half_image);
  check_convolution(c, float_buffer);
  c.geometry.stride = {2, 2};
  check_convolution(c, half_buffer);
  c.geometry.dilation = {2, 3};
  c.geometry.pad = {4, 2, 0, 3};
  check_convolution(c, half_buffer);
  c.geometry.kernel = {1, 5};
  check_convolution(c, half_buffer);
}

TEST(Convolution, ServesThePatchesOfVisionTransformers) {
  ConvCase c;
  c.x = {1, 3, 16, 24};
  c.outputs = 12;
  c.geometry.kernel = c.geometry.stride = {8, 8};
  check_convolution(c, half_buffer);
  check_convolution(c, half_image);
}

TEST(Convolution, ServesPointwiseKernels) {
  ConvCase c;
  c.x = {2, 10, 7, 7};
  c.outputs = 18;
  c.activation = Activation::relu;
  c.residual = true;
  check_convolution(c, half_buffer);
  check_convolution(c, half_image);
  c.geometry.stride = {2, 2};
  c.residual = false;
  check_convolution(c, half_buffer);
  c.x = {3, 10, 1, 1};  // squeeze and excitation
  check_convolution(c, half_buffer);
  c.x = {1, 5, 4, 9};
  c.outputs = 3;
  c.bias = false;
  check_convolution(c, float_image);
}

TEST(Convolution, AgreesForEveryTile) {
  ConvCase c;
  c.x = {1, 6, 5, 9};
  c.outputs = 14;
  c.geometry.kernel = {3, 3};
  c.geometry.pad = {1, 1, 1, 1};
  for (const TileChoice& tile : {TileChoice{1, 1, false}, TileChoice{8, 2, false}}) {
    check_convolution(c, half_buffer, tile);
  }
}

void check_wide(const ConvCase& c, const std::vector<LaunchTile>& tiles) {
  for (const LaunchTile& tile : tiles) {
    SCOPED_TRACE(to_string(tile));
    for (const Storage& storage : {half_buffer, float_buffer, half_image}) {
      check_convolution(c, storage, {}, tile);
    }
  }
}

TEST(Convolution, AgreesForEveryWideTile) {
  const std::vector<LaunchTile> tiles = {
      {8, 2, 16, {1, 3, 1}}, {4, 4, 16, {2, 2, 1}}, {4, 1, 8, {1, 1, 2}}};
  ConvCase c;
  c.x = {2, 6, 5, 9};
  c.outputs = 14;
  c.residual = true;
  c.activation = Activation::relu;
  check_wide(c, tiles);  // pointwise
  c.geometry.kernel = {3, 3};
  c.geometry.pad = {1, 1, 1, 1};
  check_wide(c, tiles);
  c.geometry.pad = {0, 3, 4, 2};  // a vector and more beyond the edge
  c.geometry.dilation = {1, 2};
  check_wide(c, tiles);
}

TEST(Convolution, AgreesForWideTilesOfStridedWindows) {
  const std::vector<LaunchTile> tiles = {{8, 2, 16, {1, 1, 1}}, {2, 1, 8, {2, 3, 1}}};
  ConvCase c;
  c.x = {1, 5, 9, 14};
  c.outputs = 9;
  c.geometry.stride = {2, 2};
  check_wide(c, tiles);
  c.geometry.kernel = {5, 3};
  c.geometry.pad = {2, 1, 2, 1};
  check_wide(c, tiles);
}

TEST(Convolution, AgreesForWideTilesOfDepthwiseKernels) {
  const std::vector<LaunchTile> tiles = {{8, 1, 16, {1, 4, 1}}, {4, 1, 8, {2, 1, 2}}};
  ConvCase c;
  c.x = {2, 10, 9, 14};
  c.outputs = c.geometry.groups = 10;
  c.geometry.kernel = {5, 3};
  c.geometry.pad = {2, 1, 2, 1};
  c.activation = Activation::relu;
  check_wide(c, tiles);
  c.geometry.stride = {1, 2};
  check_wide(c, tiles);
}

TEST(Convolution, ServesDepthwiseKernels) {
  ConvCase c;
  c.x = {2, 10, 9, 14};
  c.outputs = c.geometry.groups = 10;
  c.geometry.kernel = {5, 3};
  c.geometry.pad = {2, 1, 2, 1};
  c.activation = Activation::relu;
  check_convolution(c, half_buffer);
  check_convolution(c, half_image);
  c.geometry.stride = {2, 1};
  c.geometry.dilation = {1, 2};
  check_convolution(c, half_buffer);
  c.x = {1, 10, 5, 3};
  check_convolution(c, float_buffer);
}

TEST(Convolution, RefusesGroupsBetweenOneAndAll) {
  HostTensor x = random_tensor("x", Layout::channels, {1, 8, 4, 4}, half_buffer);
  HostTensor filter = random_tensor("filter", Layout::conv_filter, {8, 4, 1, 1}, half_buffer);
  ConvCase c;
  c.bias = false;
  c.geometry.groups = 2;
  EXPECT_THROW(build_convolution(operands_of(x, filter, filter, x, x, c)), UserError);
  c.geometry.groups = 1;  // the filter's input channels do not fit
  EXPECT_THROW(build_convolution(operands_of(x, filter, filter, x, x, c)), UserError);
}

void check_transposed(const ConvCase& c, std::array<std::int64_t, 2> out_size,
                      const Storage& storage) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(c.x));
  const Shape out{c.x[0], c.outputs, out_size[0], out_size[1]};
  HostTensor x = random_tensor("x", Layout::channels, c.x, storage);
  HostTensor filter =
      random_tensor("filter", Layout::conv_filter,
                    {c.outputs, c.x[1], c.geometry.kernel[0], c.geometry.kernel[1]}, storage);
  HostTensor bias = random_tensor("bias", Layout::rows, {c.outputs}, storage);
  HostTensor y = make_tensor("y", Layout::channels, out, storage);
  run(build_transposed_convolution(operands_of(x, filter, bias, x, y, c)),
      {&x, &filter, &bias, &y});

  std::vector<double> sums(y.values.size(), 0);  // scattered, as the operator is defined
  const ConvGeometry& g = c.geometry;
  for_each_index(c.x, [&](const Shape& at) {
    for_each_index(filter.plan.shape, [&](const Shape& tap) {
      const std::int64_t h = at[2] * g.stride[0] + tap[2] * g.dilation[0] - g.pad[0];
      const std::int64_t w = at[3] * g.stride[1] + tap[3] * g.dilation[1] - g.pad[1];
      if (tap[1] != at[1] || h < 0 || h >= out[2] || w < 0 || w >= out[3]) return;
      sums[flat_index(out, {at[0], tap[0], h, w})] +=
          double{x.values[flat_index(c.x, at)]} * filter.values[flat_index(filter.plan.shape, tap)];
    });
  });
  std::size_t i = 0;
  for_each_index(out, [&](const Shape& at) {
    sums[i] = finished(c, sums[i], bias.values[static_cast<std::size_t>(at[1])], 0);
    ++i;
  });
  expect_values(y, sums, 1e-5);
}

TEST(TransposedConvolution, ScattersItsInput) {
  ConvCase c;
  c.x = {2, 6, 5, 4};
  c.outputs = 7;
  c.geometry.kernel = {2, 2};
  c.geometry.stride = {2, 2};
  c.activation = Activation::relu;
  check_transposed(c, {10, 8}, half_buffer);
  check_transposed(c, {10, 8}, half_image);
  c.geometry.kernel = {3, 4};
  c.geometry.stride = {2, 3};
  c.geometry.pad = {1, 1, 1, 1};
  c.geometry.dilation = {2, 1};
  check_transposed(c, {11, 11}, half_buffer);
}

void check_pool(const Shape& shape, const ConvGeometry& geometry, PoolKind kind,
                const Storage& storage) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(shape));
  const Shape out{shape[0], shape[1], out_extent(geometry, 0, shape[2]),
                  out_extent(geometry, 1, shape[3])};
  HostTensor x = random_tensor("x", Layout::channels, shape, storage);
  HostTensor y = make_tensor("y", Layout::channels, out, storage);
  run(build_pool(x.plan, y.plan, geometry, kind), {&x, &y});
  std::vector<double> expected;
  for_each_index(out, [&](const Shape& at) {
    double top = -1e30, sum = 0, count = 0;
    for_each_tap(geometry, shape, at[2], at[3],
                 [&](int, int, std::int64_t row, std::int64_t column) {
                   const double value = x.values[flat_index(shape, {at[0], at[1], row, column})];
                   top = std::max(top, value);
                   sum += value;
                   count += 1;
                 });
    if (kind == PoolKind::average_include_pad) count = geometry.kernel[0] * geometry.kernel[1];
    expected.push_back(kind == PoolKind::maximum ? top : sum / count);
  });
  expect_values(y, expected);
}

TEST(Pool, TakesMaximaAndAverages) {
  ConvGeometry geometry;
  geometry.kernel = {3, 3};
  geometry.stride = {2, 2};
  geometry.pad = {1, 1, 1, 1};
  for (const PoolKind kind :
       {PoolKind::maximum, PoolKind::average, PoolKind::average_include_pad}) {
    check_pool({2, 6, 9, 12}, geometry, kind, half_buffer);
  }
  check_pool({2, 6, 9, 12}, geometry, PoolKind::maximum, half_image);
  geometry.kernel = {2, 4};
  geometry.stride = {1, 3};
  geometry.pad = {0, 1, 1, 0};
  geometry.dilation = {2, 1};
  check_pool({1, 9, 8, 10}, geometry, PoolKind::maximum, float_buffer);
}

}  // namespace
}  // namespace fm
