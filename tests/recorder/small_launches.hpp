#pragma once
// The catalogue's kernels at small, awkward sizes, in one order: what the recorder's tests launch.

#include <string>
#include <utility>
#include <vector>

#include "executor/recorder/recording_kernel.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/launch_builders.hpp"
#include "kernels/launch_tiles.hpp"

namespace fm {

struct SmallLaunch {
  PlanLaunch launch;
  IndexBuffers index;
};

/// Tensors and the launches that use them.
class SmallPlan {
 public:
  explicit SmallPlan(Placement placement, DataType dtype = DataType::f16)
      : placement_(placement), dtype_(dtype) {
    plan_.tensors.reserve(16);  // references stay valid
  }

  const PlanTensor& tensor(const Shape& shape, Layout layout = Layout::rows) {
    return add(shape, layout, dtype_, layout == Layout::linear ? Placement::buffer : placement_);
  }
  const PlanTensor& indices(const Shape& shape) {
    return add(shape, Layout::linear, DataType::i32, Placement::buffer);
  }
  void add(PlanLaunch launch, IndexBuffers index = {}) {
    launch.id = "L" + std::to_string(launches_.size() + 1);
    launches_.push_back({std::move(launch), std::move(index)});
  }

  const Plan& plan() const { return plan_; }
  const std::vector<SmallLaunch>& launches() const { return launches_; }

 private:
  const PlanTensor& add(const Shape& shape, Layout layout, DataType dtype, Placement placement) {
    PlanTensor tensor;
    tensor.id = "t" + std::to_string(plan_.tensors.size());
    tensor.name = tensor.id;
    tensor.dtype = dtype;
    tensor.shape = shape;
    tensor.layout = layout;
    tensor.placement = placement;
    tensor.bytes = storage_bytes(layout, dtype, shape);
    plan_.tensors.push_back(tensor);
    return plan_.tensors.back();
  }

  Plan plan_;
  std::vector<SmallLaunch> launches_;
  Placement placement_;
  DataType dtype_;
};

constexpr auto channels = Layout::channels;

inline void add_matmul(SmallPlan& plan) {
  MatmulOperands operands;
  operands.a = &plan.tensor({2, 37, 50});
  operands.b = &plan.tensor({2, 50, 70});
  operands.bias = &plan.tensor({70});
  operands.c = &plan.tensor({2, 37, 70});
  plan.add(build_matmul(operands));
}

inline void add_matmul_transposed_with_residual(SmallPlan& plan) {
  MatmulOperands operands;
  operands.a = &plan.tensor({3, 21, 64});
  operands.b = &plan.tensor({3, 45, 64});
  operands.b_transposed = true;
  operands.c = &plan.tensor({3, 21, 45});
  operands.epilogue.residual = &plan.tensor({3, 21, 45});
  plan.add(build_matmul(operands));
}

inline void add_wide_matmul(SmallPlan& plan) {
  MatmulOperands operands;
  operands.a = &plan.tensor({2, 37, 50});
  operands.b = &plan.tensor({2, 50, 70});
  operands.c = &plan.tensor({2, 37, 70});
  const PlanLaunch launch = with_tile(build_matmul(operands), {6, 12, 16, {1, 3, 1}});
  plan.add(launch);
  const LaunchTile blocks{6, 12, 16, {1, 1, 1}, 4};  // of four tiles, and of three
  plan.add(with_tile(build_matmul(operands), blocks));
  MatmulOperands transposed = operands;
  transposed.b = &plan.tensor({2, 70, 50});
  transposed.b_transposed = true;
  const PlanLaunch sums = with_tile(build_matmul(transposed), {4, 1, 16, {1, 2, 1}});
  plan.add(sums);
}

inline void add_wide_convolutions(SmallPlan& plan) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 12, 15, 17}, channels);
  operands.filter = &plan.tensor({24, 12, 3, 3}, Layout::conv_filter);
  operands.y = &plan.tensor({1, 24, 15, 17}, channels);
  operands.geometry.kernel = {3, 3};
  operands.geometry.pad = {1, 1, 1, 1};
  const LaunchTile tile{8, 4, 16, {3, 2, 1}};
  plan.add(with_tile(build_convolution(operands), tile));
  ConvOperands strided = operands;
  strided.y = &plan.tensor({1, 24, 8, 9}, channels);
  strided.geometry.stride = {2, 2};
  plan.add(with_tile(build_convolution(strided), tile));
  ConvOperands pointwise = operands;
  pointwise.filter = &plan.tensor({24, 12, 1, 1}, Layout::conv_filter);
  pointwise.geometry = {};
  plan.add(with_tile(build_convolution(pointwise), tile));
  ConvOperands depthwise = operands;
  depthwise.filter = &plan.tensor({12, 1, 3, 3}, Layout::depthwise_filter);
  depthwise.y = &plan.tensor({1, 12, 15, 17}, channels);
  depthwise.geometry.groups = 12;
  plan.add(with_tile(build_convolution(depthwise), {8, 1, 16, {3, 2, 1}}));
}

inline void add_matmul_with_local_memory(SmallPlan& plan) {
  MatmulOperands operands;
  operands.a = &plan.tensor({64, 96});
  operands.b = &plan.tensor({96, 128});
  operands.c = &plan.tensor({64, 128});
  TileChoice tile;
  tile.local_memory = true;
  plan.add(build_matmul(operands, tile));
}

inline void add_attention(SmallPlan& plan) {
  AttentionOperands operands;
  operands.query = &plan.tensor({2, 3, 21, 18});
  operands.key = &plan.tensor({2, 3, 75, 18});
  operands.value = &plan.tensor({2, 3, 75, 22});
  operands.mask = &plan.tensor({2, 1, 21, 75});
  operands.y = &plan.tensor({2, 3, 21, 22});
  plan.add(build_attention(operands));
}

inline void add_attention_of_a_band_of_keys(SmallPlan& plan) {
  AttentionOperands operands;
  operands.query = &plan.tensor({2, 150, 12});
  operands.key = &plan.tensor({2, 150, 12});
  operands.value = &plan.tensor({2, 150, 12});
  operands.mask = &plan.tensor({150, 150});
  operands.band = KeyBand{50, 0};
  operands.y = &plan.tensor({2, 150, 12});
  plan.add(build_attention(operands));
}

inline void add_convolution_strided_and_padded(SmallPlan& plan) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 6, 19, 17}, channels);
  operands.filter = &plan.tensor({10, 6, 3, 3}, Layout::conv_filter);
  operands.bias = &plan.tensor({10});
  operands.y = &plan.tensor({1, 10, 10, 9}, channels);
  operands.geometry.kernel = {3, 3};
  operands.geometry.stride = {2, 2};
  operands.geometry.pad = {1, 1, 1, 1};
  plan.add(build_convolution(operands));
}

inline void add_pointwise_convolution(SmallPlan& plan) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 16, 14, 13}, channels);
  operands.filter = &plan.tensor({24, 16, 1, 1}, Layout::conv_filter);
  operands.y = &plan.tensor({1, 24, 14, 13}, channels);
  plan.add(build_convolution(operands));
}

inline void add_depthwise_convolution(SmallPlan& plan) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 12, 15, 16}, channels);
  operands.filter = &plan.tensor({12, 1, 3, 3}, Layout::depthwise_filter);
  operands.y = &plan.tensor({1, 12, 15, 16}, channels);
  operands.geometry.kernel = {3, 3};
  operands.geometry.pad = {1, 1, 1, 1};
  operands.geometry.groups = 12;
  plan.add(build_convolution(operands));
}

inline void add_transposed_convolution(SmallPlan& plan) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 8, 7, 9}, channels);
  operands.filter = &plan.tensor({5, 8, 2, 2}, Layout::conv_filter);
  operands.y = &plan.tensor({1, 5, 14, 18}, channels);
  operands.geometry.kernel = {2, 2};
  operands.geometry.stride = {2, 2};
  plan.add(build_transposed_convolution(operands));
}

inline void add_pool(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({1, 8, 20, 21}, channels);
  const PlanTensor& y = plan.tensor({1, 8, 10, 11}, channels);
  ConvGeometry geometry;
  geometry.kernel = {3, 3};
  geometry.stride = {2, 2};
  geometry.pad = {1, 1, 1, 1};
  plan.add(build_pool(x, y, geometry, PoolKind::maximum));
}

inline void add_softmax_and_layer_norm(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({2, 3, 9, 70});
  const PlanTensor& mask = plan.tensor({2, 1, 9, 70});
  const PlanTensor& y = plan.tensor({2, 3, 9, 70});
  plan.add(build_softmax(x, &mask, 0.125f, y));
  const PlanTensor& scale = plan.tensor({70});
  const PlanTensor& shift = plan.tensor({70});
  plan.add(build_layer_norm(x, scale, &shift, 1e-5f, y));
}

inline void add_reductions(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({1, 10, 9, 11}, channels);
  const PlanTensor& y = plan.tensor({1, 10, 1, 1}, channels);
  plan.add(build_reduction(x, y, Reduction::mean));
  const PlanTensor& rows = plan.tensor({5, 33});
  const PlanTensor& sums = plan.tensor({5, 1});
  plan.add(build_reduction(rows, sums, Reduction::sum));
}

inline void add_broadcast_and_unary(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({2, 9, 14});
  const PlanTensor& row = plan.tensor({1, 1, 14});
  const PlanTensor& y = plan.tensor({2, 9, 14});
  plan.add(build_binary(x, row, y, BinaryOperator::add, {}));
  plan.add(build_unary(x, y, {}));
}

inline void add_transpose_and_place(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({6, 7, 5});
  const PlanTensor& y = plan.tensor({7, 5, 6});
  plan.add(build_move(x, y, {5, 1, 35}));
  const PlanTensor& joined = plan.tensor({9, 7, 5});
  plan.add(build_place(x, joined, 0, 3));
}

inline void add_gather_reads_its_indices(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({30, 12});
  const PlanTensor& at = plan.indices({11});
  const PlanTensor& y = plan.tensor({11, 12});
  const PlanLaunch launch = build_gather(x, at, y, 0);
  PlanLaunch named = launch;
  IndexBuffers index;
  for (const std::uint32_t argument : index_arguments(named)) {
    index[argument] = {3, 29, 0, 7, 7, 12, 28, 1, 19, 22, 5};
  }
  plan.add(launch, index);
}

inline void add_linear_operators_around_an_axis(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({3, 7, 5}, Layout::linear);
  const PlanTensor& at = plan.indices({4});
  const PlanTensor& updates = plan.tensor({3, 4, 5}, Layout::linear);
  const PlanTensor& y = plan.tensor({3, 7, 5}, Layout::linear);
  const PlanLaunch scatter = build_scatter(x, at, updates, y, 1, ScatterCombination::add);
  plan.add(scatter);
  plan.add(build_scan(x, y, 1, false, true));
}

/// `launch` with argument `name`, which lies as `stored`, behind an index function.
inline PlanLaunch through(PlanLaunch launch, const std::string& name, const std::string& function,
                          const PlanTensor& stored) {
  const auto arguments = catalogue_entry(launch.kernel).arguments(launch.parameters);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name != name) continue;
    launch.arguments[i + 1] =
        IntArgument{static_cast<std::int32_t>(grid_extent(stored.layout, stored.shape).width)};
  }
  launch.parameters["INDEX_" + name] = function;
  return launch;
}

inline PlanTensor seen_as(PlanTensor stored, Layout layout, const Shape& shape) {
  stored.layout = layout;
  stored.shape = shape;
  return stored;
}

inline void add_product_through_index_functions(SmallPlan& plan) {
  const PlanTensor& a = plan.tensor({21, 3 * 16});
  const PlanTensor& b = plan.tensor({45, 3 * 16});
  const PlanTensor& c = plan.tensor({21, 3 * 44});
  const PlanTensor a_seen = seen_as(a, Layout::rows, {3, 21, 16});
  const PlanTensor b_seen = seen_as(b, Layout::rows, {3, 44, 16});
  const PlanTensor c_seen = seen_as(c, Layout::rows, {3, 21, 44});
  MatmulOperands operands;
  operands.a = &a_seen;
  operands.b = &b_seen;
  operands.b_transposed = true;
  operands.c = &c_seen;
  PlanLaunch launch = build_matmul(operands);
  launch = through(launch, "a", "x + 4 * (y / 21), y % 21", a);
  launch = through(launch, "b", "x + 4 * (y / 44), y % 44", b);
  launch = through(launch, "c", "x + 11 * (y / 21), y % 21", c);
  plan.add(launch);
}

inline void add_elements_through_index_functions(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({30, 21});
  const PlanTensor& y = plan.tensor({21, 30});
  const PlanLaunch launch = build_unary(seen_as(x, Layout::rows, {21, 30}), y, {});
  plan.add(through(launch, "x", "y / 4, 4 * x + lane, y % 4, -4 * x + 30", x));
  const PlanTensor& linear = plan.tensor({21, 30}, Layout::linear);
  const PlanLaunch out = build_unary(y, seen_as(linear, Layout::rows, {21, 30}), {});
  plan.add(through(out, "y", "4 * x + lane + 30 * y, -4 * x + 30", linear));
}

inline void add_convolution_into_tokens(SmallPlan& plan) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 8, 20, 18}, channels);
  operands.filter = &plan.tensor({24, 8, 2, 2}, Layout::conv_filter);
  const PlanTensor& y = plan.tensor({91, 24});
  const PlanTensor y_seen = seen_as(y, channels, {1, 24, 10, 9});
  operands.y = &y_seen;
  operands.geometry.kernel = {2, 2};
  operands.geometry.stride = {2, 2};
  const PlanLaunch launch = build_convolution(operands);
  plan.add(through(launch, "y", "x / 9, x % 9 + 9 * y + 1", y));
}

inline void add_resize(SmallPlan& plan) {
  const PlanTensor& x = plan.tensor({1, 8, 6, 7}, channels);
  const PlanTensor& y = plan.tensor({1, 8, 12, 14}, channels);
  plan.add(build_resize(x, y, ResizeMode::nearest, ResizeCoordinates::asymmetric,
                        NearestRounding::floor, {2, 2}));
  plan.add(build_resize(x, y, ResizeMode::linear, ResizeCoordinates::half_pixel,
                        NearestRounding::floor, {2, 2}));
}

struct SmallCase {
  const char* name;
  void (*add)(SmallPlan&);
};

inline const std::vector<SmallCase>& small_cases() {
  static const std::vector<SmallCase> cases = {
      {"Matmul", add_matmul},
      {"MatmulTransposedWithResidual", add_matmul_transposed_with_residual},
      {"WideMatmul", add_wide_matmul},
      {"WideConvolutions", add_wide_convolutions},
      {"MatmulWithLocalMemory", add_matmul_with_local_memory},
      {"Attention", add_attention},
      {"AttentionOfABandOfKeys", add_attention_of_a_band_of_keys},
      {"ConvolutionStridedAndPadded", add_convolution_strided_and_padded},
      {"PointwiseConvolution", add_pointwise_convolution},
      {"DepthwiseConvolution", add_depthwise_convolution},
      {"TransposedConvolution", add_transposed_convolution},
      {"Pool", add_pool},
      {"SoftmaxAndLayerNorm", add_softmax_and_layer_norm},
      {"Reductions", add_reductions},
      {"BroadcastAndUnary", add_broadcast_and_unary},
      {"TransposeAndPlace", add_transpose_and_place},
      {"GatherReadsItsIndices", add_gather_reads_its_indices},
      {"LinearOperatorsAroundAnAxis", add_linear_operators_around_an_axis},
      {"ProductThroughIndexFunctions", add_product_through_index_functions},
      {"ElementsThroughIndexFunctions", add_elements_through_index_functions},
      {"ConvolutionIntoTokens", add_convolution_into_tokens},
      {"Resize", add_resize},
  };
  return cases;
}

}  // namespace fm
