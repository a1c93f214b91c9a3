// move, place and gather: every element must arrive exactly.
#include <gtest/gtest-spi.h>

#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

using Strides = std::vector<std::int64_t>;

std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

PlanLaunch check_move(Layout x_layout, const Shape& x_shape, Layout y_layout, const Shape& y_shape,
                      const Strides& strides, std::int64_t offset = 0,
                      const Storage& x_storage = half_buffer,
                      const Storage& y_storage = half_buffer) {
  SCOPED_TRACE(to_string(x_layout) + " " + to_string(x_shape) + " " + to_string(x_storage) +
               " -> " + to_string(y_layout) + " " + to_string(y_shape) + " " +
               to_string(y_storage));
  HostTensor x = random_tensor("x", x_layout, x_shape, x_storage);
  HostTensor y = make_tensor("y", y_layout, y_shape, y_storage);
  const PlanLaunch launch = build_move(x.plan, y.plan, strides, offset);
  run(launch, {&x, &y});
  std::vector<double> expected;
  for_each_index(y_shape, [&](const Shape& at) {
    std::int64_t flat = offset;
    for (std::size_t d = 0; d < at.size(); ++d) flat += at[d] * strides[d];
    expected.push_back(x.values[static_cast<std::size_t>(flat)]);
  });
  expect_values(y, expected, 0);
  return launch;
}

TEST(Move, ChangesLayoutAndType) {
  const Shape shape{2, 6, 3, 5};
  const Strides plain{90, 15, 5, 1};
  const Layout layouts[] = {Layout::linear, Layout::rows, Layout::channels};
  for (const Layout from : layouts) {
    for (const Layout to : layouts) {
      check_move(from, shape, to, shape, plain);
      if (from == Layout::linear || to == Layout::linear) {
        check_move(from, shape, to, shape, plain, 0, float_image, half_image);
      }
    }
  }
}

TEST(Move, Transposes) {
  const PlanLaunch heads =  // [T, heads, K] -> [heads, T, K]
      check_move(Layout::rows, {7, 3, 8}, Layout::rows, {3, 7, 8}, {8, 24, 1});
  EXPECT_EQ(heads.parameters.at("WHOLE"), "1");
  check_move(Layout::rows, {7, 3, 8}, Layout::rows, {3, 7, 8}, {8, 24, 1}, 0, half_image,
             half_image);
  const PlanLaunch uneven =
      check_move(Layout::rows, {7, 3, 6}, Layout::rows, {3, 7, 6}, {6, 18, 1});
  EXPECT_EQ(uneven.parameters.at("WHOLE"), "0");
  check_move(Layout::rows, {5, 9}, Layout::rows, {9, 5}, {1, 9});
  check_move(Layout::rows, {2, 3, 4, 5, 6, 7}, Layout::rows, {7, 5, 3, 2, 4, 6},
             {1, 42, 840, 2520, 210, 7});
  check_move(Layout::linear, {2, 3, 4, 5, 2, 3}, Layout::linear, {3, 5, 3, 2, 4, 2},
             {1, 6, 120, 360, 30, 3});
}

TEST(Move, TurnsChannelsIntoTokensAndBack) {
  const PlanLaunch tokens =  // [1, C, H, W] -> [1, H W, C]
      check_move(Layout::channels, {1, 12, 4, 5}, Layout::rows, {1, 20, 12}, {240, 1, 20});
  EXPECT_EQ(tokens.parameters.at("WHOLE"), "1");
  const PlanLaunch odd =
      check_move(Layout::channels, {2, 10, 4, 5}, Layout::rows, {2, 20, 10}, {200, 1, 20});
  EXPECT_EQ(odd.parameters.at("WHOLE"), "0");
  const PlanLaunch back = check_move(Layout::rows, {2, 20, 12}, Layout::channels, {2, 12, 4, 5},
                                     {240, 1, 60, 12}, 0, half_image, half_image);
  EXPECT_EQ(back.parameters.at("WHOLE"), "1");
}

TEST(Move, SlicesStepsFlipsAndExpands) {
  check_move(Layout::rows, {4, 6, 16}, Layout::rows, {4, 1, 16}, {96, 16, 1}, 0);  // class token
  check_move(Layout::rows, {4, 6, 16}, Layout::rows, {2, 3, 5}, {192, 32, 3}, 17);
  check_move(Layout::rows, {4, 6}, Layout::rows, {4, 6}, {-6, -1}, 23);
  check_move(Layout::rows, {1, 8}, Layout::rows, {5, 8}, {0, 1});
  check_move(Layout::rows, {1}, Layout::channels, {1, 6, 2, 3}, {0, 0, 0, 0});
  check_move(Layout::channels, {2, 8, 6, 7}, Layout::channels, {2, 4, 3, 5}, {336, 42, 14, 1},
             168 + 9);  // a crop from channel 4 on
  check_move(Layout::channels, {1, 8, 6, 7}, Layout::channels, {1, 4, 6, 7}, {336, 42, 7, 1},
             2 * 42);  // from channel 2 on: no whole texels
}

TEST(Move, RefusesToReachOutside) {
  HostTensor x = random_tensor("x", Layout::rows, {4, 4}, half_buffer);
  HostTensor y = random_tensor("y", Layout::rows, {4, 4}, half_buffer);
  EXPECT_THROW(build_move(x.plan, y.plan, {4, 1}, 1), UserError);
  EXPECT_THROW(build_move(x.plan, y.plan, {-4, 1}, 0), UserError);
  EXPECT_THROW(build_move(x.plan, y.plan, {4}), UserError);
  y.plan.layout = Layout::conv_filter;
  EXPECT_THROW(build_move(x.plan, y.plan, {4, 1}), UserError);
}

/// Concatenates two tensors of extents `first` and `second` along `axis`.
void check_concatenation(Layout layout, Shape shape, int axis, std::int64_t first,
                         std::int64_t second, const Storage& storage) {
  SCOPED_TRACE(to_string(layout) + " axis " + std::to_string(axis) + " " + to_string(storage));
  const auto d = static_cast<std::size_t>(axis);
  shape[d] = first;
  HostTensor x0 = random_tensor("x0", layout, shape, storage);
  shape[d] = second;
  HostTensor x1 = random_tensor("x1", layout, shape, storage);
  shape[d] = first + second;
  HostTensor y = make_tensor("y", layout, shape, storage);

  std::vector<double> parts[2];
  std::int64_t start = 0;
  for (HostTensor* x : {&x0, &x1}) {
    PlanLaunch launch = build_place(x->plan, y.plan, axis, start);
    HostTensor part = y;
    // Each half in turn; what the other half would write stays NaN.
    testing::TestPartResultArray ignored;
    {
      testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &ignored);
      run(launch, {x, &part});
    }
    parts[start == 0 ? 0 : 1] = as_doubles(part.values);
    start += first;
  }
  std::size_t i = 0;
  for_each_index(shape, [&](const Shape& at) {
    const bool in_first = at[d] < first;
    const HostTensor& source = in_first ? x0 : x1;
    Shape from = at;
    if (!in_first) from[d] -= first;
    ASSERT_EQ(parts[in_first ? 0 : 1][i], source.values[flat_index(source.plan.shape, from)]);
    ASSERT_TRUE(std::isnan(parts[in_first ? 1 : 0][i])) << "written outside the region";
    ++i;
  });
}

TEST(Place, ConcatenatesAlongEveryAxis) {
  for (const Storage& storage : {half_buffer, half_image}) {
    for (const int axis : {0, 1, 2}) {
      check_concatenation(Layout::rows, {3, 2, 9}, axis, axis == 2 ? 8 : 2, 3, storage);
    }
    for (const int axis : {0, 1, 2, 3}) {
      check_concatenation(Layout::channels, {2, 6, 3, 5}, axis, axis == 1 ? 4 : 2, 3, storage);
    }
  }
  for (const int axis : {0, 1, 2}) {
    check_concatenation(Layout::linear, {3, 2, 5}, axis, 1, 3, float_buffer);
  }
}

TEST(Place, RefusesPartsOfTexels) {
  HostTensor y = make_tensor("y", Layout::channels, {1, 10, 2, 2}, half_buffer);
  HostTensor x = make_tensor("x", Layout::channels, {1, 4, 2, 2}, half_buffer);
  EXPECT_NO_THROW(build_place(x.plan, y.plan, 1, 4));
  EXPECT_THROW(build_place(x.plan, y.plan, 1, 2), UserError);  // begins inside a texel
  x = make_tensor("x", Layout::channels, {1, 6, 2, 2}, half_buffer);
  EXPECT_NO_THROW(build_place(x.plan, y.plan, 1, 4));
  EXPECT_THROW(build_place(x.plan, y.plan, 1, 0), UserError);  // ends inside a texel
  EXPECT_THROW(build_place(x.plan, y.plan, 1, 8), UserError);  // beyond the end
}

void check_gather(Layout layout, const Shape& x_shape, int axis, const Storage& storage) {
  SCOPED_TRACE(to_string(layout) + " axis " + std::to_string(axis) + " " + to_string(storage));
  const auto d = static_cast<std::size_t>(axis);
  const std::int64_t choices = x_shape[d];
  HostTensor x = random_tensor("x", layout, x_shape, storage);
  HostTensor indices = make_tensor("i", Layout::linear, {5}, {DataType::i32, Placement::buffer});
  indices.values = {0, float(choices - 1), 1, -1, float(-choices)};
  Shape y_shape = x_shape;
  y_shape[d] = 5;
  HostTensor y = make_tensor("y", layout, y_shape, storage);
  run(build_gather(x.plan, indices.plan, y.plan, axis), {&x, &indices, &y});
  std::vector<double> expected;
  for_each_index(y_shape, [&](const Shape& at) {
    Shape from = at;
    from[d] = static_cast<std::int64_t>(indices.values[static_cast<std::size_t>(at[d])]);
    if (from[d] < 0) from[d] += choices;
    expected.push_back(x.values[flat_index(x_shape, from)]);
  });
  expect_values(y, expected, 0);
}

TEST(Gather, TakesRowsAndElements) {
  check_gather(Layout::rows, {9, 14}, 0, half_buffer);
  check_gather(Layout::rows, {9, 14}, 0, half_image);
  check_gather(Layout::rows, {2, 6, 3, 7}, 1, half_buffer);
  check_gather(Layout::linear, {3, 4, 5}, 0, float_buffer);
  check_gather(Layout::linear, {3, 4, 5}, 1, float_buffer);
  check_gather(Layout::linear, {3, 4, 5}, 2, float_buffer);
}

}  // namespace
}  // namespace fm
