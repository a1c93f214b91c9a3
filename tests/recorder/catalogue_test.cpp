// The catalogue's kernels at small, awkward sizes: recorded from chosen groups, expanded, compared
// with the logs of all their work-groups, and held against the plain build (plain_witness.hpp).
#include "kernels/catalogue.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/launch_builders.hpp"
#include "kernels/launch_tiles.hpp"
#include "tests/recorder/plain_witness.hpp"
#include "tests/recorder/recorded_device.hpp"

namespace fm {
namespace {

/// Tensors of one launch.
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

  const Plan& plan() const { return plan_; }

  /// Records, expands, compares.
  trace::AccessProgram check(const PlanLaunch& launch, const IndexBuffers& index = {}) {
    PlanLaunch named = launch;
    named.id = "L1";
    const RecordingKernel kernel = recording_kernel(plan_, named);
    RecordedDevice& device = RecordedDevice::get();
    const trace::AccessProgram program =
        record_accesses(device.context, device.cache, kernel, index);
    EXPECT_GT(expect_equal_over_all_groups(program, kernel, index), 0u);
    EXPECT_EQ(program.key(), program_key(plan_, named));
    PlainWitness(plan_, named, program, index).expect_plain_build_agrees();
    return program;
  }

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
  Placement placement_;
  DataType dtype_;
};

class CatalogueTest : public testing::TestWithParam<Placement> {
 protected:
  SmallPlan plan{GetParam()};
};

constexpr auto channels = Layout::channels;

TEST_P(CatalogueTest, Matmul) {
  MatmulOperands operands;
  operands.a = &plan.tensor({2, 37, 50});
  operands.b = &plan.tensor({2, 50, 70});
  operands.bias = &plan.tensor({70});
  operands.c = &plan.tensor({2, 37, 70});
  const trace::AccessProgram program = plan.check(build_matmul(operands));
  EXPECT_EQ(program.tables_size(), 0);
}

TEST_P(CatalogueTest, MatmulTransposedWithResidual) {
  MatmulOperands operands;
  operands.a = &plan.tensor({3, 21, 64});
  operands.b = &plan.tensor({3, 45, 64});
  operands.b_transposed = true;
  operands.c = &plan.tensor({3, 21, 45});
  operands.epilogue.residual = &plan.tensor({3, 21, 45});
  EXPECT_EQ(plan.check(build_matmul(operands)).tables_size(), 0);
}

TEST_P(CatalogueTest, WideMatmul) {
  MatmulOperands operands;
  operands.a = &plan.tensor({2, 37, 50});
  operands.b = &plan.tensor({2, 50, 70});
  operands.c = &plan.tensor({2, 37, 70});
  const PlanLaunch launch = with_tile(build_matmul(operands), {6, 12, 16, {1, 3, 1}});
  EXPECT_EQ(plan.check(launch).tables_size(), 0);
  const LaunchTile blocks{6, 12, 16, {1, 1, 1}, 4};  // of four tiles, and of three
  EXPECT_EQ(plan.check(with_tile(build_matmul(operands), blocks)).tables_size(), 0);
  MatmulOperands transposed = operands;
  transposed.b = &plan.tensor({2, 70, 50});
  transposed.b_transposed = true;
  const PlanLaunch sums = with_tile(build_matmul(transposed), {4, 1, 16, {1, 2, 1}});
  EXPECT_EQ(plan.check(sums).tables_size(), 0);
}

TEST_P(CatalogueTest, WideConvolutions) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 12, 15, 17}, channels);
  operands.filter = &plan.tensor({24, 12, 3, 3}, Layout::conv_filter);
  operands.y = &plan.tensor({1, 24, 15, 17}, channels);
  operands.geometry.kernel = {3, 3};
  operands.geometry.pad = {1, 1, 1, 1};
  const LaunchTile tile{8, 4, 16, {3, 2, 1}};
  EXPECT_EQ(plan.check(with_tile(build_convolution(operands), tile)).tables_size(), 0);
  ConvOperands strided = operands;
  strided.y = &plan.tensor({1, 24, 8, 9}, channels);
  strided.geometry.stride = {2, 2};
  EXPECT_EQ(plan.check(with_tile(build_convolution(strided), tile)).tables_size(), 0);
  ConvOperands pointwise = operands;
  pointwise.filter = &plan.tensor({24, 12, 1, 1}, Layout::conv_filter);
  pointwise.geometry = {};
  EXPECT_EQ(plan.check(with_tile(build_convolution(pointwise), tile)).tables_size(), 0);
  ConvOperands depthwise = operands;
  depthwise.filter = &plan.tensor({12, 1, 3, 3}, Layout::depthwise_filter);
  depthwise.y = &plan.tensor({1, 12, 15, 17}, channels);
  depthwise.geometry.groups = 12;
  EXPECT_EQ(
      plan.check(with_tile(build_convolution(depthwise), {8, 1, 16, {3, 2, 1}})).tables_size(), 0);
}

TEST_P(CatalogueTest, MatmulWithLocalMemory) {
  MatmulOperands operands;
  operands.a = &plan.tensor({64, 96});
  operands.b = &plan.tensor({96, 128});
  operands.c = &plan.tensor({64, 128});
  TileChoice tile;
  tile.local_memory = true;
  const trace::AccessProgram program = plan.check(build_matmul(operands, tile));
  EXPECT_EQ(program.tables_size(), 0);
  EXPECT_GT(program.local_arrays_size(), 0);
}

TEST_P(CatalogueTest, Attention) {
  AttentionOperands operands;
  operands.query = &plan.tensor({2, 3, 21, 18});
  operands.key = &plan.tensor({2, 3, 75, 18});
  operands.value = &plan.tensor({2, 3, 75, 22});
  operands.mask = &plan.tensor({2, 1, 21, 75});
  operands.y = &plan.tensor({2, 3, 21, 22});
  const trace::AccessProgram program = plan.check(build_attention(operands));
  EXPECT_EQ(program.tables_size(), 0);
  EXPECT_GT(program.local_arrays_size(), 0);
}

TEST_P(CatalogueTest, AttentionOfABandOfKeys) {
  AttentionOperands operands;
  operands.query = &plan.tensor({2, 150, 12});
  operands.key = &plan.tensor({2, 150, 12});
  operands.value = &plan.tensor({2, 150, 12});
  operands.mask = &plan.tensor({150, 150});
  operands.band = KeyBand{50, 0};
  operands.y = &plan.tensor({2, 150, 12});
  EXPECT_EQ(plan.check(build_attention(operands)).tables_size(), 0);
}

TEST_P(CatalogueTest, ConvolutionStridedAndPadded) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 6, 19, 17}, channels);
  operands.filter = &plan.tensor({10, 6, 3, 3}, Layout::conv_filter);
  operands.bias = &plan.tensor({10});
  operands.y = &plan.tensor({1, 10, 10, 9}, channels);
  operands.geometry.kernel = {3, 3};
  operands.geometry.stride = {2, 2};
  operands.geometry.pad = {1, 1, 1, 1};
  EXPECT_EQ(plan.check(build_convolution(operands)).tables_size(), 0);
}

TEST_P(CatalogueTest, PointwiseConvolution) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 16, 14, 13}, channels);
  operands.filter = &plan.tensor({24, 16, 1, 1}, Layout::conv_filter);
  operands.y = &plan.tensor({1, 24, 14, 13}, channels);
  EXPECT_EQ(plan.check(build_convolution(operands)).tables_size(), 0);
}

TEST_P(CatalogueTest, DepthwiseConvolution) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 12, 15, 16}, channels);
  operands.filter = &plan.tensor({12, 1, 3, 3}, Layout::depthwise_filter);
  operands.y = &plan.tensor({1, 12, 15, 16}, channels);
  operands.geometry.kernel = {3, 3};
  operands.geometry.pad = {1, 1, 1, 1};
  operands.geometry.groups = 12;
  EXPECT_EQ(plan.check(build_convolution(operands)).tables_size(), 0);
}

TEST_P(CatalogueTest, TransposedConvolution) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 8, 7, 9}, channels);
  operands.filter = &plan.tensor({5, 8, 2, 2}, Layout::conv_filter);
  operands.y = &plan.tensor({1, 5, 14, 18}, channels);
  operands.geometry.kernel = {2, 2};
  operands.geometry.stride = {2, 2};
  EXPECT_EQ(plan.check(build_transposed_convolution(operands)).tables_size(), 0);
}

TEST_P(CatalogueTest, Pool) {
  const PlanTensor& x = plan.tensor({1, 8, 20, 21}, channels);
  const PlanTensor& y = plan.tensor({1, 8, 10, 11}, channels);
  ConvGeometry geometry;
  geometry.kernel = {3, 3};
  geometry.stride = {2, 2};
  geometry.pad = {1, 1, 1, 1};
  EXPECT_EQ(plan.check(build_pool(x, y, geometry, PoolKind::maximum)).tables_size(), 0);
}

TEST_P(CatalogueTest, SoftmaxAndLayerNorm) {
  const PlanTensor& x = plan.tensor({2, 3, 9, 70});
  const PlanTensor& mask = plan.tensor({2, 1, 9, 70});
  const PlanTensor& y = plan.tensor({2, 3, 9, 70});
  EXPECT_EQ(plan.check(build_softmax(x, &mask, 0.125f, y)).tables_size(), 0);
  const PlanTensor& scale = plan.tensor({70});
  const PlanTensor& shift = plan.tensor({70});
  EXPECT_EQ(plan.check(build_layer_norm(x, scale, &shift, 1e-5f, y)).tables_size(), 0);
}

TEST_P(CatalogueTest, Reductions) {
  const PlanTensor& x = plan.tensor({1, 10, 9, 11}, channels);
  const PlanTensor& y = plan.tensor({1, 10, 1, 1}, channels);
  EXPECT_EQ(plan.check(build_reduction(x, y, Reduction::mean)).tables_size(), 0);
  const PlanTensor& rows = plan.tensor({5, 33});
  const PlanTensor& sums = plan.tensor({5, 1});
  EXPECT_EQ(plan.check(build_reduction(rows, sums, Reduction::sum)).tables_size(), 0);
}

TEST_P(CatalogueTest, BroadcastAndUnary) {
  const PlanTensor& x = plan.tensor({2, 9, 14});
  const PlanTensor& row = plan.tensor({1, 1, 14});
  const PlanTensor& y = plan.tensor({2, 9, 14});
  EXPECT_EQ(plan.check(build_binary(x, row, y, BinaryOperator::add, {})).tables_size(), 0);
  EXPECT_EQ(plan.check(build_unary(x, y, {})).tables_size(), 0);
}

TEST_P(CatalogueTest, TransposeAndPlace) {
  const PlanTensor& x = plan.tensor({6, 7, 5});
  const PlanTensor& y = plan.tensor({7, 5, 6});
  EXPECT_EQ(plan.check(build_move(x, y, {5, 1, 35})).tables_size(), 0);
  const PlanTensor& joined = plan.tensor({9, 7, 5});
  EXPECT_EQ(plan.check(build_place(x, joined, 0, 3)).tables_size(), 0);
}

TEST_P(CatalogueTest, GatherReadsItsIndices) {
  const PlanTensor& x = plan.tensor({30, 12});
  const PlanTensor& at = plan.indices({11});
  const PlanTensor& y = plan.tensor({11, 12});
  const PlanLaunch launch = build_gather(x, at, y, 0);
  PlanLaunch named = launch;
  IndexBuffers index;
  for (const std::uint32_t argument : index_arguments(named)) {
    index[argument] = {3, 29, 0, 7, 7, 12, 28, 1, 19, 22, 5};
  }
  const trace::AccessProgram program = plan.check(launch, index);
  EXPECT_EQ(program.tables_size(), 0) << "loaded indices are variables";
}

TEST_P(CatalogueTest, LinearOperatorsAroundAnAxis) {
  const PlanTensor& x = plan.tensor({3, 7, 5}, Layout::linear);
  const PlanTensor& at = plan.indices({4});
  const PlanTensor& updates = plan.tensor({3, 4, 5}, Layout::linear);
  const PlanTensor& y = plan.tensor({3, 7, 5}, Layout::linear);
  const PlanLaunch scatter = build_scatter(x, at, updates, y, 1, ScatterCombination::add);
  EXPECT_EQ(plan.check(scatter).tables_size(), 0);
  EXPECT_EQ(plan.check(build_scan(x, y, 1, false, true)).tables_size(), 0);
}

/// `launch` with argument `name`, which lies as `stored`, behind an index function.
PlanLaunch through(PlanLaunch launch, const std::string& name, const std::string& function,
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

PlanTensor seen_as(PlanTensor stored, Layout layout, const Shape& shape) {
  stored.layout = layout;
  stored.shape = shape;
  return stored;
}

TEST_P(CatalogueTest, ProductThroughIndexFunctions) {
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
  EXPECT_EQ(plan.check(launch).tables_size(), 0);
}

TEST_P(CatalogueTest, ElementsThroughIndexFunctions) {
  const PlanTensor& x = plan.tensor({30, 21});
  const PlanTensor& y = plan.tensor({21, 30});
  const PlanLaunch launch = build_unary(seen_as(x, Layout::rows, {21, 30}), y, {});
  EXPECT_EQ(
      plan.check(through(launch, "x", "y / 4, 4 * x + lane, y % 4, -4 * x + 30", x)).tables_size(),
      0);
  const PlanTensor& linear = plan.tensor({21, 30}, Layout::linear);
  const PlanLaunch out = build_unary(y, seen_as(linear, Layout::rows, {21, 30}), {});
  EXPECT_EQ(
      plan.check(through(out, "y", "4 * x + lane + 30 * y, -4 * x + 30", linear)).tables_size(), 0);
}

TEST_P(CatalogueTest, ConvolutionIntoTokens) {
  ConvOperands operands;
  operands.x = &plan.tensor({1, 8, 20, 18}, channels);
  operands.filter = &plan.tensor({24, 8, 2, 2}, Layout::conv_filter);
  const PlanTensor& y = plan.tensor({91, 24});
  const PlanTensor y_seen = seen_as(y, channels, {1, 24, 10, 9});
  operands.y = &y_seen;
  operands.geometry.kernel = {2, 2};
  operands.geometry.stride = {2, 2};
  const PlanLaunch launch = build_convolution(operands);
  EXPECT_EQ(plan.check(through(launch, "y", "x / 9, x % 9 + 9 * y + 1", y)).tables_size(), 0);
}

TEST_P(CatalogueTest, Resize) {
  const PlanTensor& x = plan.tensor({1, 8, 6, 7}, channels);
  const PlanTensor& y = plan.tensor({1, 8, 12, 14}, channels);
  plan.check(build_resize(x, y, ResizeMode::nearest, ResizeCoordinates::asymmetric,
                          NearestRounding::floor, {2, 2}));
  plan.check(build_resize(x, y, ResizeMode::linear, ResizeCoordinates::half_pixel,
                          NearestRounding::floor, {2, 2}));
}

TEST(PlainWitness, NoticesAReadOrWriteInAnotherPlace) {
  SmallPlan small(Placement::buffer);
  const PlanTensor& x = small.tensor({5, 12});
  const PlanTensor& y = small.tensor({5, 12});
  PlanLaunch launch = build_unary(x, y, {});
  launch.id = "L1";
  const trace::AccessProgram right = small.check(launch);
  for (int site = 0; site < right.sites_size(); ++site) {
    trace::AccessProgram wrong = right;
    trace::Expression* offset = wrong.mutable_sites(site)->mutable_x();
    for (trace::LinearTerm& term : *offset->mutable_terms()) term.set_coefficient(0);
    const IndexBuffers none;
    EXPECT_NONFATAL_FAILURE(
        PlainWitness(small.plan(), launch, wrong, none).expect_plain_build_agrees(), "the trace");
  }
}

std::string placement_name(const testing::TestParamInfo<Placement>& tested) {
  return tested.param == Placement::buffer ? "Buffer" : "Image";
}

INSTANTIATE_TEST_SUITE_P(Placements, CatalogueTest,
                         testing::Values(Placement::buffer, Placement::image2d), placement_name);

}  // namespace
}  // namespace fm
