// Views against their meaning: every element through an explicit index computation.
#include "planner/tensor_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace fm {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> numbers(const Shape& shape) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(TensorView, SmallExamples) {
  const TensorView whole = whole_view({2, 3});
  EXPECT_THAT(gathered(transposed(whole, {1, 0}), numbers({2, 3})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(gathered(sliced(whole, {1, 2}, {1, -1}, {1, 3}), numbers({2, 3})),
              ElementsAre(5, 4, 3));
  EXPECT_THAT(gathered(expanded(whole_view({2, 1}), {2, 2, 3}), numbers({2, 1})),
              ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1));
}

TEST(TensorView, WholeMeansEveryElementInOrder) {
  EXPECT_TRUE(is_whole(whole_view({2, 3}), 6));
  EXPECT_TRUE(is_whole(*reshaped(whole_view({2, 3}), {3, 1, 2}), 6));
  EXPECT_TRUE(is_whole(transposed(whole_view({1, 3}), {1, 0}), 3));
  EXPECT_FALSE(is_whole(transposed(whole_view({2, 3}), {1, 0}), 6));
  EXPECT_FALSE(is_whole(sliced(whole_view({2, 3}), {0, 0}, {1, 1}, {1, 3}), 6));
  EXPECT_FALSE(is_whole(sliced(whole_view({2, 3}), {1, 0}, {1, 1}, {1, 3}), 3));
  EXPECT_FALSE(is_whole(expanded(whole_view({1}), {1, 6}), 6));
}

TEST(TensorView, HeadsOfAttentionSplitButDoNotMergeAgain) {
  const auto heads = reshaped(whole_view({5, 12}), {5, 3, 4});
  ASSERT_TRUE(heads.has_value());
  const TensorView by_head = transposed(*heads, {1, 0, 2});
  EXPECT_THAT(by_head.strides, ElementsAre(4, 12, 1));
  EXPECT_FALSE(reshaped(by_head, {15, 4}).has_value());
  EXPECT_FALSE(reshaped(transposed(whole_view({3, 5, 4}), {1, 0, 2}), {5, 12}).has_value());
}

/// Random chains of operations: a reshape that is granted must not change the elements' order.
TEST(TensorView, RandomReshapesKeepTheOrder) {
  std::mt19937 generator(11);
  int granted = 0, refused = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const Shape base = {2, 3, 4, 2};
    TensorView view = whole_view(base);
    if (generator() % 2) {
      std::vector<std::int64_t> order = {0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), generator);
      view = transposed(view, order);
    }
    if (generator() % 2) {
      const std::size_t d = generator() % 4;
      std::vector<std::int64_t> starts(4, 0), steps(4, 1);
      Shape extents = view.shape;
      if (extents[d] > 1) {
        starts[d] = 1;
        extents[d] -= 1;
      }
      view = sliced(view, starts, steps, extents);
    }
    Shape factors;
    for (std::int64_t extent : view.shape) factors.push_back(extent);
    if (generator() % 2) factors = {factors[0] * factors[1], factors[2], factors[3]};
    if (factors.back() % 2 == 0 && generator() % 2) {
      factors.back() /= 2;
      factors.push_back(2);
    }
    const auto result = reshaped(view, factors);
    if (!result) {
      ++refused;
      continue;
    }
    ++granted;
    EXPECT_EQ(gathered(*result, numbers(base)), gathered(view, numbers(base)));
  }
  EXPECT_GT(granted, 100);
  EXPECT_GT(refused, 20);
}

TEST(TensorView, Broadcasting) {
  EXPECT_EQ(broadcast_shape({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shape({}, {3, 1}), (Shape{3, 1}));
  EXPECT_EQ(broadcast_shape({2, 3}, {2}), std::nullopt);
}

}  // namespace
}  // namespace fm
