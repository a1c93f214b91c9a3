// Kernels that read and write through index functions, against the same arithmetic on the host.
#include "kernels/index_function.hpp"

#include <gmock/gmock.h>

#include "kernels/launch_tiles.hpp"
#include "tests/core/error_message.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What the builder is told of a tensor that lies as `stored`.
PlanTensor seen_as(const HostTensor& stored, Layout layout, const Shape& shape) {
  PlanTensor seen = stored.plan;
  seen.layout = layout;
  seen.shape = shape;
  return seen;
}

/// The launch with `argument` read or written through `function`.
PlanLaunch through(PlanLaunch launch, const std::string& argument, const std::string& function,
                   const HostTensor& stored) {
  const auto arguments = catalogue_entry(launch.kernel).arguments(launch.parameters);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name != argument) continue;
    const GridExtent grid = grid_extent(stored.plan.layout, stored.plan.shape);
    launch.arguments[i + 1] = IntArgument{static_cast<std::int32_t>(grid.width)};
  }
  launch.parameters[index_parameter(argument)] = function;
  return launch;
}

class IndexFunctions : public testing::TestWithParam<Storage> {};

/// Two heads side by side in rows, as a product of two batches; the result side by side again.
void check_product_of_heads(const Storage& storage, const std::optional<LaunchTile>& wide) {
  constexpr std::int64_t heads = 2, rows = 9, depth = 8, columns = 12;
  HostTensor a = random_tensor("a", Layout::rows, {rows, heads * depth}, storage);
  HostTensor b = random_tensor("b", Layout::rows, {columns, heads * depth}, storage);
  HostTensor c = make_tensor("c", Layout::rows, {rows, heads * columns}, storage);
  const PlanTensor a_seen = seen_as(a, Layout::rows, {heads, rows, depth});
  const PlanTensor b_seen = seen_as(b, Layout::rows, {heads, columns, depth});
  const PlanTensor c_seen = seen_as(c, Layout::rows, {heads, rows, columns});
  MatmulOperands operands;
  operands.a = &a_seen;
  operands.b = &b_seen;
  operands.b_transposed = true;
  operands.c = &c_seen;
  PlanLaunch launch = build_matmul(operands);
  launch = through(launch, "a", "x + 2 * (y / 9), y % 9", a);
  launch = through(launch, "b", "x + 2 * (y / 12), y % 12", b);
  launch = through(launch, "c", "x + 3 * (y / 9), y % 9", c);
  if (wide) launch = with_tile(launch, *wide);
  run(launch, {&a, &b, &c});
  std::vector<double> expected(c.values.size());
  for_each_index({heads, rows, columns}, [&](const Shape& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      sum += double{a.values[flat_index(a.plan.shape, {i[1], i[0] * depth + k})]} *
             double{b.values[flat_index(b.plan.shape, {i[2], i[0] * depth + k})]};
    }
    expected[flat_index(c.plan.shape, {i[1], i[0] * columns + i[2]})] = sum;
  });
  expect_values(c, expected);
}

TEST_P(IndexFunctions, ProductOfHeadsThatLieSideBySide) {
  check_product_of_heads(GetParam(), {});
  check_product_of_heads(GetParam(), LaunchTile{4, 1, 8, {1, 1, 1}});
}

/// A transpose that mixes lanes, with a tail: the lanes beyond it are zero.
TEST_P(IndexFunctions, ElementsOfATranspose) {
  HostTensor x = random_tensor("x", Layout::rows, {10, 7}, GetParam());
  HostTensor y = make_tensor("y", Layout::rows, {7, 10}, GetParam());
  const PlanLaunch launch = through(build_unary(seen_as(x, Layout::rows, {7, 10}), y.plan, {}), "x",
                                    "y / 4, 4 * x + lane, y % 4, -4 * x + 10", x);
  run(launch, {&x, &y});
  std::vector<double> expected;
  for_each_index({7, 10}, [&](const Shape& i) {
    expected.push_back(double{x.values[flat_index(x.plan.shape, {i[1], i[0]})]});
  });
  expect_values(y, expected);
}

/// A map's channels as the rows of tokens, written where the map's kernel writes texels.
TEST_P(IndexFunctions, ChannelsWrittenAsRows) {
  HostTensor x = random_tensor("x", Layout::channels, {1, 6, 3, 5}, GetParam());
  HostTensor y = make_tensor("y", Layout::rows, {15, 6}, GetParam());
  const PlanLaunch launch =
      through(build_unary(x.plan, seen_as(y, Layout::channels, {1, 6, 3, 5}), {}), "y",
              "x / 5, 5 * y + x % 5", y);
  run(launch, {&x, &y});
  std::vector<double> expected(90);
  for_each_index({6, 15}, [&](const Shape& i) {
    expected[flat_index({15, 6}, {i[1], i[0]})] = double{x.values[flat_index({6, 15}, i)]};
  });
  expect_values(y, expected);
}

/// From a linear input to a linear output, texels in between.
TEST_P(IndexFunctions, LinearTensorsAsTexels) {
  HostTensor x = random_tensor("x", Layout::linear, {5, 6}, {DataType::f32, Placement::buffer});
  HostTensor y = make_tensor("y", Layout::linear, {6, 5}, {DataType::f32, Placement::buffer});
  PlanLaunch launch = build_unary(seen_as(x, Layout::rows, {6, 5}),
                                  seen_as(y, Layout::rows, {6, 5}), {Activation::neg});
  launch = through(launch, "x", "24 * x + 6 * lane + y, -4 * x + 5", x);
  launch = through(launch, "y", "4 * x + lane + 5 * y, -4 * x + 5", y);
  run(launch, {&x, &y});
  std::vector<double> expected;
  for_each_index({6, 5}, [&](const Shape& i) {
    expected.push_back(-double{x.values[flat_index({5, 6}, {i[1], i[0]})]});
  });
  expect_values(y, expected);
}

INSTANTIATE_TEST_SUITE_P(Storage, IndexFunctions,
                         testing::Values(half_buffer, float_buffer, half_image, float_image),
                         [](const auto& tested) {
                           std::string name = to_string(tested.param);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

/// A launch of `unary` whose input lies as `layout`, with an index function.
Plan unary_plan(Layout layout, const std::string& parameter, const std::string& function) {
  Plan plan;
  const HostTensor x = make_tensor("x", layout, {8, 8}, half_buffer);
  const HostTensor y = make_tensor("y", Layout::rows, {8, 8}, half_buffer);
  plan.tensors = {x.plan, y.plan};
  PlanLaunch launch = build_unary(seen_as(x, Layout::rows, {8, 8}), y.plan, {});
  launch.id = "L7";
  launch.parameters[parameter] = function;
  plan.launches = {launch};
  return plan;
}

TEST(IndexFunctionParameters, TellBuildsApartByOptions) {
  const Plan plain = unary_plan(Layout::rows, "INDEX_x", "x, y"),
             other = unary_plan(Layout::rows, "INDEX_x", "x, 7 - y");
  const auto options = [](const Plan& plan) {
    return compile_options(plan, plan.launches[0], false);
  };
  EXPECT_NE(options(plain), options(other));
  EXPECT_THAT(options(plain), HasSubstr("-DFM_KIND_x=view_buffer_half"));
  EXPECT_THAT(options(plain), Not(HasSubstr("INDEX_x")));
}

TEST(IndexFunctionParameters, QuotientsByPowersOfTwoAreShifts) {
  const Plan plan = unary_plan(Layout::rows, "INDEX_x", "x % 8 + y / 3, y % 3");
  const std::string source = kernel_source(plan, plan.launches[0]);
  EXPECT_THAT(source, HasSubstr("8 * FM_SHIFT_RIGHT((1 * (x)), 3)"));
  EXPECT_THAT(source, HasSubstr("FM_QUOTIENT((1 * (y)), 3)"));
  EXPECT_THAT(source, HasSubstr("FM_REMAINDER((1 * (y)), 3)"));
}

TEST(IndexFunctionParameters, AreRefusedWithLaunchAndPlace) {
  const auto message = [](Layout layout, const std::string& name, const std::string& function) {
    return user_error_of([&] { validate_launches(unary_plan(layout, name, function)); });
  };
  EXPECT_EQ(message(Layout::rows, "INDEX_x", "x, y"), "");
  EXPECT_THAT(message(Layout::rows, "INDEX_z", "x, y"),
              HasSubstr("launch L7: unary has no parameter 'INDEX_z'"));
  EXPECT_THAT(message(Layout::rows, "INDEX_x", "x"), HasSubstr("`X, Y` or `X, Y, LANE, VALID`"));
  EXPECT_THAT(message(Layout::linear, "INDEX_x", "x, y, lane, 4"), HasSubstr("`ELEMENT, VALID`"));
  EXPECT_THAT(message(Layout::rows, "INDEX_x", "x + lane, y"), HasSubstr("cannot depend on lane"));
  EXPECT_THAT(message(Layout::rows, "INDEX_x", "x, y); evil("), HasSubstr("index expression"));
  EXPECT_THAT(message(Layout::rows, "INDEX_y", "x, y, lane, 4"), HasSubstr("only written whole"));
  EXPECT_THAT(message(Layout::linear, "ACTIVATION", "NONE"), HasSubstr("must not be linear"));
}

}  // namespace
}  // namespace fm
