// unary and binary, and the activations that every kernel shares.
#include <limits>

#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double expected_activation(Activation activation, double x, double alpha, double beta) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu_erf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::hard_sigmoid:
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case Activation::hard_swish:
      return x * std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case Activation::clip:
      return std::min(std::max(x, alpha), beta);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::leaky_relu:
      return x >= 0 ? x : alpha * x;
    case Activation::exp:
      return std::exp(x);
    case Activation::log:
      return std::log(x);
    case Activation::sqrt:
      return std::sqrt(x);
    case Activation::reciprocal:
      return 1 / x;
    case Activation::neg:
      return -x;
    case Activation::abs:
      return std::abs(x);
    case Activation::erf:
      return std::erf(x);
    case Activation::floor:
      return std::floor(x);
    case Activation::ceil:
      return std::ceil(x);
    case Activation::elu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Activation::softplus:
      return std::log1p(std::exp(x));
    case Activation::swish_one:
      return x * sigmoid(alpha * x);
    case Activation::sin:
      return std::sin(x);
    case Activation::cos:
      return std::cos(x);
    case Activation::tan:
      return std::tan(x);
    case Activation::asin:
      return std::asin(x);
    case Activation::acos:
      return std::acos(x);
    case Activation::atan:
      return std::atan(x);
    case Activation::sinh:
      return std::sinh(x);
    case Activation::cosh:
      return std::cosh(x);
    case Activation::asinh:
      return std::asinh(x);
    case Activation::acosh:
      return std::acosh(x);
    case Activation::atanh:
      return std::atanh(x);
    case Activation::sign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Activation::round:
      return std::nearbyint(x);
    case Activation::truncate:
      return std::trunc(x);
    case Activation::is_nan:
      return std::isnan(x) ? 1 : 0;
    case Activation::is_inf:
      return !std::isinf(x) ? 0 : x > 0 ? alpha : beta;
    case Activation::logical_not:
      return x == 0 ? 1 : 0;
    case Activation::nonzero:
      return x != 0 ? 1 : 0;
    case Activation::thresholded_relu:
      return x > alpha ? x : 0;
    case Activation::selu:
      return beta * (x > 0 ? x : alpha * std::expm1(x));
    case Activation::celu:
      return std::max(x, 0.0) + std::min(0.0, alpha * std::expm1(x / alpha));
    case Activation::softsign:
      return x / (1 + std::abs(x));
    case Activation::shrink:
      return x > alpha ? x - beta : x < -alpha ? x + beta : 0;
  }
  return 0;
}

/// Inside what the function is defined for, and away from its poles.
std::pair<float, float> domain_of(Activation activation) {
  switch (activation) {
    case Activation::log:
    case Activation::sqrt:
    case Activation::reciprocal:
      return {0.01f, 6};
    case Activation::tan:
      return {-1.4f, 1.4f};
    case Activation::asin:
    case Activation::acos:
    case Activation::atanh:
      return {-0.98f, 0.98f};
    case Activation::acosh:
      return {1.01f, 6};
    default:
      return {-6, 6};
  }
}

class EveryActivation : public testing::TestWithParam<Activation> {};

TEST_P(EveryActivation, FollowsItsFormula) {
  const Activation activation = GetParam();
  Epilogue epilogue;
  epilogue.activation = activation;
  epilogue.alpha = activation == Activation::clip ? -1.5f : 0.2f;
  epilogue.beta = activation == Activation::clip ? 2.5f : 0.5f;
  const auto [low, high] = domain_of(activation);
  HostTensor x = random_tensor("x", Layout::rows, {13, 101}, float_buffer, low, high);
  HostTensor y = make_tensor("y", Layout::rows, {13, 101}, float_buffer);
  run(build_unary(x.plan, y.plan, epilogue), {&x, &y});
  std::vector<double> expected;
  for (const float value : x.values) {
    expected.push_back(expected_activation(activation, value, epilogue.alpha, epilogue.beta));
  }
  expect_values(y, expected, 2e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Unary, EveryActivation,
    testing::Values(Activation::none, Activation::relu, Activation::gelu_erf, Activation::gelu_tanh,
                    Activation::sigmoid, Activation::hard_sigmoid, Activation::hard_swish,
                    Activation::clip, Activation::tanh, Activation::silu, Activation::leaky_relu,
                    Activation::exp, Activation::log, Activation::sqrt, Activation::reciprocal,
                    Activation::neg, Activation::abs, Activation::erf, Activation::floor,
                    Activation::ceil, Activation::elu, Activation::softplus, Activation::swish_one,
                    Activation::sin, Activation::cos, Activation::tan, Activation::asin,
                    Activation::acos, Activation::atan, Activation::sinh, Activation::cosh,
                    Activation::asinh, Activation::acosh, Activation::atanh, Activation::sign,
                    Activation::round, Activation::truncate, Activation::thresholded_relu,
                    Activation::selu, Activation::celu, Activation::softsign, Activation::shrink));

TEST(Unary, TestsSpecialNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  HostTensor x = make_tensor("x", Layout::rows, {7}, float_buffer);
  x.values = {0.0f, 1.5f, -2.0f, infinity, -infinity, nan, -0.0f};
  for (const Activation activation :
       {Activation::is_nan, Activation::is_inf, Activation::logical_not, Activation::nonzero}) {
    HostTensor y = make_tensor("y", Layout::rows, {7}, float_buffer);
    Epilogue epilogue;
    epilogue.activation = activation;
    epilogue.alpha = 1;
    run(build_unary(x.plan, y.plan, epilogue), {&x, &y});
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      EXPECT_EQ(y.values[i], expected_activation(activation, x.values[i], 1, 0)) << x.values[i];
    }
  }
}

TEST(Unary, WorksOnChannelsAndKeepsTheirPaddingZero) {
  for (const Storage& storage : {half_buffer, half_image}) {
    HostTensor x = random_tensor("x", Layout::channels, {2, 6, 3, 5}, storage);
    HostTensor residual = random_tensor("r", Layout::channels, {2, 6, 3, 5}, storage);
    HostTensor y = make_tensor("y", Layout::channels, {2, 6, 3, 5}, storage);
    Epilogue epilogue;
    epilogue.activation = Activation::exp;
    epilogue.residual = &residual.plan;
    run(build_unary(x.plan, y.plan, epilogue), {&x, &residual, &y});
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      expected.push_back(std::exp(x.values[i]) + residual.values[i]);
    }
    expect_values(y, expected);
  }
}

double applied(BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::add:
      return a + b;
    case BinaryOperator::subtract:
      return a - b;
    case BinaryOperator::multiply:
      return a * b;
    case BinaryOperator::divide:
      return a / b;
    case BinaryOperator::maximum:
      return std::max(a, b);
    case BinaryOperator::minimum:
      return std::min(a, b);
    case BinaryOperator::power:
      return std::pow(a, b);
    case BinaryOperator::equal:
      return a == b;
    case BinaryOperator::less:
      return a < b;
    case BinaryOperator::less_or_equal:
      return a <= b;
    case BinaryOperator::logical_and:
      return a != 0 && b != 0;
    case BinaryOperator::logical_or:
      return a != 0 || b != 0;
    case BinaryOperator::logical_xor:
      return (a != 0) != (b != 0);
    case BinaryOperator::prelu:
      return a < 0 ? b * a : a;
    case BinaryOperator::integer_divide:
      return std::trunc(a / b);
    case BinaryOperator::integer_power:
      return std::nearbyint(std::pow(a, b));
    case BinaryOperator::modulo:
      return a - b * std::floor(a / b);
    case BinaryOperator::remainder:
      return std::fmod(a, b);
    case BinaryOperator::pick:
      return a != 0 ? b : 0;
    case BinaryOperator::pick_other:
      return a != 0 ? 0 : b;
  }
  return 0;
}

double broadcast_value(const HostTensor& x, const Shape& at) {
  const Shape& shape = x.plan.shape;
  Shape own(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    own[d] = shape[d] == 1 ? 0 : at[at.size() - shape.size() + d];
  }
  return x.values[flat_index(shape, own)];
}

void check_binary(Layout layout, const Shape& shape0, const Shape& shape1, const Shape& out,
                  BinaryOperator op, const Storage& storage) {
  SCOPED_TRACE(to_string(storage) + " " + to_string(shape0) + " " + to_string(shape1));
  HostTensor x0 = random_tensor("x0", layout, shape0, storage, 0.5f, 2);
  HostTensor x1 = random_tensor("x1", layout, shape1, storage, 0.5f, 2);
  HostTensor y = make_tensor("y", layout, out, storage);
  run(build_binary(x0.plan, x1.plan, y.plan, op, {}), {&x0, &x1, &y});
  std::vector<double> expected;
  for_each_index(out, [&](const Shape& at) {
    expected.push_back(applied(op, broadcast_value(x0, at), broadcast_value(x1, at)));
  });
  expect_values(y, expected);
}

TEST(Binary, AppliesEveryOperator) {
  const Shape shape{3, 5, 7};
  for (const BinaryOperator op :
       {BinaryOperator::add, BinaryOperator::subtract, BinaryOperator::multiply,
        BinaryOperator::divide, BinaryOperator::maximum, BinaryOperator::minimum,
        BinaryOperator::power}) {
    check_binary(Layout::rows, shape, shape, shape, op, half_buffer);
  }
  check_binary(Layout::rows, shape, shape, shape, BinaryOperator::divide, half_image);
}

/// Pairs of whole numbers, zero, negative and up to 2^24 among them.
TEST(Binary, IsExactOnIntegers) {
  const std::vector<float> numbers = {0,  1,  -1,    2,    3,        -3,        7,        -8,
                                      10, 97, -1023, 4095, 16777215, -16777215, 16777216, 5592405};
  const auto count = static_cast<std::int64_t>(numbers.size());
  HostTensor a = make_tensor("a", Layout::rows, {count, 1}, float_buffer);
  HostTensor b = make_tensor("b", Layout::rows, {count}, float_buffer);
  a.values = b.values = numbers;
  for (const BinaryOperator op :
       {BinaryOperator::equal, BinaryOperator::less, BinaryOperator::less_or_equal,
        BinaryOperator::logical_and, BinaryOperator::logical_or, BinaryOperator::logical_xor,
        BinaryOperator::integer_divide, BinaryOperator::modulo, BinaryOperator::remainder,
        BinaryOperator::pick, BinaryOperator::pick_other, BinaryOperator::prelu}) {
    HostTensor y = make_tensor("y", Layout::rows, {count, count}, float_buffer);
    run(build_binary(a.plan, b.plan, y.plan, op, {}), {&a, &b, &y});
    const bool divides = op == BinaryOperator::integer_divide || op == BinaryOperator::modulo ||
                         op == BinaryOperator::remainder;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (std::size_t j = 0; j < numbers.size(); ++j) {
        if (divides && numbers[j] == 0) continue;
        const double expected = applied(op, numbers[i], numbers[j]);
        EXPECT_EQ(y.values[i * numbers.size() + j], static_cast<float>(expected))
            << static_cast<int>(op) << " of " << numbers[i] << " and " << numbers[j];
      }
    }
  }
}

TEST(Binary, PickingKeepsInfinitiesAndNanApart) {
  const float infinity = std::numeric_limits<float>::infinity();
  HostTensor condition = make_tensor("c", Layout::rows, {4}, float_buffer);
  HostTensor value = make_tensor("v", Layout::rows, {4}, float_buffer);
  HostTensor y = make_tensor("y", Layout::rows, {4}, float_buffer);
  condition.values = {1, 0, 1, 0};
  value.values = {infinity, infinity, 2, std::numeric_limits<float>::quiet_NaN()};
  run(build_binary(condition.plan, value.plan, y.plan, BinaryOperator::pick, {}),
      {&condition, &value, &y});
  EXPECT_EQ(y.values, (std::vector<float>{infinity, 0, 2, 0}));
}

TEST(Binary, BroadcastsRows) {
  const Shape out{2, 3, 5, 7};
  for (const Shape& x1 : {Shape{7}, Shape{5, 7}, Shape{5, 1}, Shape{2, 1, 1, 7}, Shape{2, 1, 5, 7},
                          Shape{3, 1, 1}, Shape{3, 5, 1}, Shape{2, 3, 1, 1}, Shape{1}}) {
    check_binary(Layout::rows, out, x1, out, BinaryOperator::subtract, half_buffer);
  }
  check_binary(Layout::rows, {2, 1, 5, 7}, {3, 1, 7}, {2, 3, 5, 7}, BinaryOperator::add,
               half_buffer);
  check_binary(Layout::rows, {5, 1}, out, out, BinaryOperator::subtract, half_image);
}

TEST(Binary, BroadcastsChannels) {
  const Shape out{2, 6, 3, 5};
  for (const Shape& x1 :
       {Shape{1, 6, 1, 1}, Shape{2, 6, 1, 1}, Shape{2, 1, 3, 5}, Shape{1, 1, 1, 1},
        Shape{1, 6, 3, 5}, Shape{2, 6, 1, 5}, Shape{1, 6, 3, 1}}) {
    check_binary(Layout::channels, out, x1, out, BinaryOperator::subtract, half_buffer);
    check_binary(Layout::channels, x1, out, out, BinaryOperator::subtract, half_buffer);
  }
  check_binary(Layout::channels, out, {2, 6, 1, 1}, out, BinaryOperator::multiply, half_image);
}

TEST(Binary, RefusesWhatDoesNotBroadcast) {
  HostTensor x = random_tensor("x", Layout::rows, {2, 3, 4}, half_buffer);
  HostTensor odd = random_tensor("odd", Layout::rows, {2, 4}, half_buffer);
  HostTensor other = random_tensor("other", Layout::linear, {2, 3, 4}, half_buffer);
  EXPECT_THROW(build_binary(x.plan, odd.plan, x.plan, BinaryOperator::add, {}), UserError);
  EXPECT_THROW(build_binary(x.plan, other.plan, x.plan, BinaryOperator::add, {}), UserError);
  HostTensor deep = random_tensor("deep", Layout::rows, {2, 3, 2, 3, 2, 4}, half_buffer);
  HostTensor comb = random_tensor("comb", Layout::rows, {2, 1, 2, 1, 2, 4}, half_buffer);
  EXPECT_THROW(build_binary(deep.plan, comb.plan, deep.plan, BinaryOperator::add, {}), UserError);
}

}  // namespace
}  // namespace fm
