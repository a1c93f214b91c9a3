#include "core/diagnostics.hpp"
#include "kernels/launch_tiles.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

struct MatmulCase {
  std::int64_t batch = 1, m = 1, k = 1, n = 1;
  bool b_batched = false, b_transposed = false, bias = false, residual = false;
  Activation activation = Activation::none;
  bool activation_after_residual = false;
  float scale = 1;
};

double activated(Activation activation, double x) {
  if (activation == Activation::relu) return std::max(x, 0.0);
  if (activation == Activation::gelu_erf) return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (activation == Activation::sigmoid) return 1 / (1 + std::exp(-x));
  return x;
}

/// `wide`: the tile instead of the builder's.
void check_matmul(const MatmulCase& c, const Storage& storage, const TileChoice& tile = {},
                  const std::optional<LaunchTile>& wide = {}) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(Shape{c.batch, c.m, c.k, c.n}));
  const Shape b_matrix = c.b_transposed ? Shape{c.n, c.k} : Shape{c.k, c.n};
  Shape b_shape = b_matrix;
  if (c.b_batched) b_shape.insert(b_shape.begin(), c.batch);
  HostTensor a = random_tensor("a", Layout::rows, {c.batch, c.m, c.k}, storage);
  HostTensor b = random_tensor("b", Layout::rows, b_shape, storage);
  HostTensor bias = random_tensor("bias", Layout::rows, {c.n}, storage);
  HostTensor residual = random_tensor("residual", Layout::rows, {c.batch, c.m, c.n}, storage);
  HostTensor out = make_tensor("c", Layout::rows, {c.batch, c.m, c.n}, storage);

  MatmulOperands operands;
  operands.a = &a.plan;
  operands.b = &b.plan;
  operands.b_transposed = c.b_transposed;
  if (c.bias) operands.bias = &bias.plan;
  operands.scale = c.scale;
  operands.c = &out.plan;
  operands.epilogue.activation = c.activation;
  if (c.residual) operands.epilogue.residual = &residual.plan;
  operands.epilogue.activation_after_residual = c.activation_after_residual;
  PlanLaunch launch = build_matmul(operands, tile);
  if (wide) launch = with_tile(launch, *wide);
  EXPECT_EQ(launch.macs, static_cast<std::uint64_t>(c.batch * c.m * c.k * c.n));
  run(launch, {&a, &b, &bias, &residual, &out});

  std::vector<double> expected;
  for_each_index(out.plan.shape, [&](const Shape& at) {
    double sum = 0;
    for (std::int64_t k = 0; k < c.k; ++k) {
      Shape b_at = c.b_transposed ? Shape{at[2], k} : Shape{k, at[2]};
      if (c.b_batched) b_at.insert(b_at.begin(), at[0]);
      sum += double{a.values[flat_index(a.plan.shape, {at[0], at[1], k})]} *
             b.values[flat_index(b.plan.shape, b_at)];
    }
    sum *= c.scale;
    if (c.bias) sum += bias.values[static_cast<std::size_t>(at[2])];
    const double added = c.residual ? residual.values[flat_index(out.plan.shape, at)] : 0;
    expected.push_back(c.activation_after_residual ? activated(c.activation, sum + added)
                                                   : activated(c.activation, sum) + added);
  });
  expect_values(out, expected, 1e-5);
}

TEST(Matmul, MultipliesWithBiasActivationAndResidual) {
  MatmulCase c;
  c.m = 7, c.k = 12, c.n = 20;
  c.bias = c.residual = true;
  c.activation = Activation::gelu_erf;
  check_matmul(c, half_buffer);
  check_matmul(c, float_buffer);
  check_matmul(c, half_image);
  check_matmul(c, float_image);
  c.m = 22, c.k = 40, c.n = 33;
  check_matmul(c, half_buffer);
  check_matmul(c, half_image);
}

TEST(Matmul, AppliesTheActivationAfterTheResidual) {
  MatmulCase c;
  c.m = 5, c.k = 9, c.n = 6;  // one and two texels a row
  c.residual = c.activation_after_residual = true;
  c.activation = Activation::relu;
  check_matmul(c, half_buffer);
  c.n = 3;
  check_matmul(c, float_buffer);
}

TEST(Matmul, KeepsPaddingLanesZeroWhenTheActivationOfZeroIsNot) {
  MatmulCase c;
  c.m = 4, c.k = 4, c.n = 13;
  c.activation = Activation::sigmoid;
  check_matmul(c, half_buffer);
}

TEST(Matmul, ServesOneRow) {
  MatmulCase c;
  c.m = 1, c.k = 30, c.n = 50;
  c.bias = true;
  check_matmul(c, half_buffer);
  check_matmul(c, half_image);
}

TEST(Matmul, ServesAttention) {
  MatmulCase scores;
  scores.batch = 3, scores.m = 13, scores.k = 10, scores.n = 13;
  scores.b_batched = scores.b_transposed = true;
  scores.scale = 0.25f;
  check_matmul(scores, half_buffer);
  check_matmul(scores, float_buffer);
  check_matmul(scores, half_image);
  MatmulCase mix;
  mix.batch = 3, mix.m = 13, mix.k = 13, mix.n = 10;
  mix.b_batched = true;
  check_matmul(mix, half_buffer);
  check_matmul(mix, half_image);
}

TEST(Matmul, FoldsTheBatchWhenTheRightSideHasNone) {
  MatmulCase c;
  c.batch = 3, c.m = 3, c.k = 8, c.n = 16;
  check_matmul(c, half_buffer);
}

TEST(Matmul, AgreesForEveryTile) {
  MatmulCase c;
  c.m = 19, c.k = 18, c.n = 39;
  for (const int rows : {1, 2, 5, 8}) {
    for (const int columns4 : {1, 2}) check_matmul(c, half_buffer, {rows, columns4, false});
  }
}

TEST(Matmul, AgreesWithOperandsInLocalMemory) {
  MatmulCase c;
  c.batch = 2, c.m = 19, c.k = 37, c.n = 43;
  c.bias = c.b_batched = true;
  for (const Storage& storage : {half_buffer, half_image, float_buffer}) {
    check_matmul(c, storage, {4, 2, true});
  }
  check_matmul(c, half_buffer, {2, 4, true});
}

TEST(Matmul, AgreesForEveryWideTile) {
  MatmulCase c;
  c.batch = 2, c.m = 19, c.k = 38, c.n = 67;  // K and N end in the middle of a texel
  c.bias = c.residual = c.b_batched = true;
  c.activation = Activation::gelu_erf;
  for (const LaunchTile& tile : {LaunchTile{8, 12, 16, {1, 3, 1}}, LaunchTile{1, 16, 16, {1, 1, 1}},
                                 LaunchTile{6, 4, 8, {2, 2, 1}}, LaunchTile{2, 2, 8, {4, 1, 2}}}) {
    SCOPED_TRACE(to_string(tile));
    for (const Storage& storage : {half_buffer, float_buffer, half_image}) {
      check_matmul(c, storage, {}, tile);
    }
  }
}

TEST(Matmul, AgreesInBlocksOfDepth) {
  MatmulCase c;
  c.batch = 2, c.m = 45, c.n = 67;
  c.bias = c.residual = c.b_batched = true;
  for (const std::int64_t depth : {3, 128, 299}) {  // less than a texel, a block, two and a tail
    c.k = depth;
    // Two work-items of four tiles and one of the other two; more tiles than there are; texels.
    for (const LaunchTile& tile :
         {LaunchTile{8, 12, 16, {1, 2, 1}, 4}, LaunchTile{6, 4, 8, {2, 1, 1}, 16},
          LaunchTile{4, 2, 4, {1, 1, 1}, 2}}) {
      SCOPED_TRACE(to_string(tile));
      for (const Storage& storage : {half_buffer, float_buffer, half_image}) {
        check_matmul(c, storage, {}, tile);
      }
    }
  }
}

TEST(Matmul, SumsWideAlongTheDepthOfATransposedSide) {
  MatmulCase c;
  c.batch = 2, c.m = 11, c.n = 23;
  c.b_batched = c.b_transposed = true;
  c.scale = 0.25f;
  for (const std::int64_t depth : {3, 16, 45, 64}) {  // less than a vector, whole ones, a tail
    c.k = depth;
    for (const LaunchTile& tile :
         {LaunchTile{4, 1, 16, {1, 3, 1}}, LaunchTile{2, 2, 8, {3, 1, 1}}}) {
      for (const Storage& storage : {half_buffer, float_buffer, half_image}) {
        check_matmul(c, storage, {}, tile);
      }
    }
  }
}

TEST(Matmul, RefusesWhatNoKernelServes) {
  HostTensor a = random_tensor("a", Layout::rows, {4, 6}, half_buffer);
  HostTensor b = random_tensor("b", Layout::rows, {5, 8}, half_buffer);
  HostTensor out = make_tensor("c", Layout::rows, {4, 8}, half_buffer);
  MatmulOperands operands;
  operands.a = &a.plan;
  operands.b = &b.plan;
  operands.c = &out.plan;
  EXPECT_THROW(build_matmul(operands), UserError);
  b = random_tensor("b", Layout::rows, {6, 8}, half_buffer);
  EXPECT_NO_THROW(build_matmul(operands));
  EXPECT_THROW(build_matmul(operands, {8, 1, false}), UserError);  // taller than c
  b.plan.layout = Layout::linear;
  EXPECT_THROW(build_matmul(operands), UserError);
}

}  // namespace
}  // namespace fm
