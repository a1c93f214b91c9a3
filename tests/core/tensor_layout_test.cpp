#include "core/tensor_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

struct Place {
  std::int64_t x, y;
  int lane;
};

/// The formulas of tensor_layout.hpp, written out again from their text.
Place place_by_definition(Layout layout, const Shape& s, const Shape& i) {
  switch (layout) {
    case Layout::linear: {
      std::int64_t index = 0;
      for (std::size_t d = 0; d < s.size(); ++d) index = index * s[d] + i[d];
      return {index, 0, 0};
    }
    case Layout::rows: {
      std::int64_t row = 0;
      for (std::size_t d = 0; d + 1 < s.size(); ++d) row = row * s[d] + i[d];
      return {i.back() / 4, row, static_cast<int>(i.back() % 4)};
    }
    case Layout::channels:
      return {(i[1] / 4) * s[3] + i[3], i[0] * s[2] + i[2], static_cast<int>(i[1] % 4)};
    case Layout::conv_filter:
      return {i[1], ((i[0] / 4) * s[2] + i[2]) * s[3] + i[3], static_cast<int>(i[0] % 4)};
    case Layout::depthwise_filter:
      return {i[2] * s[3] + i[3], i[0] / 4, static_cast<int>(i[0] % 4)};
  }
  return {};
}

GridExtent extent_by_definition(Layout layout, const Shape& s) {
  const auto u = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  switch (layout) {
    case Layout::linear:
      return {u(element_count(s)), 1};
    case Layout::rows:
      return {u((s.back() + 3) / 4), u(element_count(s) / s.back())};
    case Layout::channels:
      return {u((s[1] + 3) / 4 * s[3]), u(s[0] * s[2])};
    case Layout::conv_filter:
      return {u((s[1] + 3) / 4 * 4), u((s[0] + 3) / 4 * s[2] * s[3])};
    case Layout::depthwise_filter:
      return {u(s[2] * s[3]), u((s[0] + 3) / 4)};
  }
  return {};
}

std::vector<Shape> all_indices(const Shape& shape) {
  std::vector<Shape> indices{Shape{}};
  for (const std::int64_t side : shape) {
    std::vector<Shape> longer;
    for (const Shape& index : indices) {
      for (std::int64_t i = 0; i < side; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = longer;
  }
  return indices;
}

class Layouts : public testing::TestWithParam<Layout> {
 protected:
  Shape random_shape() {
    const bool any_rank = GetParam() == Layout::linear || GetParam() == Layout::rows;
    const std::size_t rank = any_rank ? 1 + random_() % 5 : 4;
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(1 + static_cast<std::int64_t>(random_() % (rank > 3 ? 6 : 11)));
    }
    if (GetParam() == Layout::depthwise_filter) shape[1] = 1;
    return shape;
  }
  std::mt19937 random_{42};
};

TEST_P(Layouts, PlaceEveryElementAsDefinedAndOnce) {
  for (int round = 0; round < 60; ++round) {
    const Shape shape = random_shape();
    const GridExtent grid = grid_extent(GetParam(), shape);
    EXPECT_TRUE(grid == extent_by_definition(GetParam(), shape)) << to_string(shape);
    std::set<std::tuple<std::int64_t, std::int64_t, int>> taken;
    for (const Shape& index : all_indices(shape)) {
      const ElementPosition position = position_of(GetParam(), shape, index);
      const Place expected = place_by_definition(GetParam(), shape, index);
      ASSERT_EQ(position.texel.x, expected.x) << to_string(shape) << to_string(index);
      ASSERT_EQ(position.texel.y, expected.y) << to_string(shape) << to_string(index);
      ASSERT_EQ(position.lane, expected.lane) << to_string(shape) << to_string(index);
      ASSERT_LT(static_cast<std::uint64_t>(position.texel.x), grid.width);
      ASSERT_LT(static_cast<std::uint64_t>(position.texel.y), grid.height);
      ASSERT_TRUE(taken.emplace(position.texel.x, position.texel.y, position.lane).second);
    }
  }
}

TEST_P(Layouts, PackPutsValuesInPlaceAndZerosElsewhere) {
  for (int round = 0; round < 40; ++round) {
    const Shape shape = random_shape();
    const GridExtent grid = grid_extent(GetParam(), shape);
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    const std::uint64_t lanes = GetParam() == Layout::linear ? 1 : 4;
    std::vector<float> expected(grid.width * grid.height * lanes, 0);
    std::size_t next = 0;
    for (const Shape& index : all_indices(shape)) {
      const Place place = place_by_definition(GetParam(), shape, index);
      const auto texel =
          static_cast<std::uint64_t>(place.y) * grid.width + static_cast<std::uint64_t>(place.x);
      expected[texel * lanes + static_cast<std::uint64_t>(place.lane)] = values[next++];
    }
    const auto bytes = pack(GetParam(), DataType::f32, shape, values.data());
    ASSERT_EQ(bytes.size(), storage_bytes(GetParam(), DataType::f32, shape).count());
    ASSERT_EQ(bytes.size(), expected.size() * 4);
    EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0) << to_string(shape);
  }
}

TEST_P(Layouts, UnpackInvertsPackInEveryType) {
  for (const DataType type : {DataType::f16, DataType::f32, DataType::i32, DataType::u8}) {
    const Shape shape = random_shape();
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(random_() % 256);
    const auto bytes = pack(GetParam(), type, shape, values.data());
    EXPECT_EQ(bytes.size(), storage_bytes(GetParam(), type, shape).count());
    EXPECT_EQ(unpack(GetParam(), type, shape, bytes.data()), values) << to_string(type);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Values(Layout::linear, Layout::rows, Layout::channels,
                                         Layout::conv_filter, Layout::depthwise_filter),
                         [](const auto& layout) { return to_string(layout.param); });

TEST(TensorLayout, GivesTheGridsOfTheVisionTransformer) {
  EXPECT_TRUE(grid_extent(Layout::rows, {1, 197, 768}) == (GridExtent{192, 197}));
  EXPECT_EQ(storage_bytes(Layout::rows, DataType::f16, {1, 197, 768}), Bytes(197 * 768 * 2));
  EXPECT_TRUE(grid_extent(Layout::channels, {1, 3, 224, 224}) == (GridExtent{224, 224}));
  EXPECT_TRUE(grid_extent(Layout::conv_filter, {768, 3, 16, 16}) == (GridExtent{4, 192 * 256}));
}

TEST(TensorLayout, ScalarsAreOneRow) {
  EXPECT_TRUE(grid_extent(Layout::rows, {}) == (GridExtent{1, 1}));
  const float value = 3;
  const auto bytes = pack(Layout::rows, DataType::f32, {}, &value);
  ASSERT_EQ(bytes.size(), 16U);
  EXPECT_EQ(unpack(Layout::rows, DataType::f32, {}, bytes.data()), std::vector<float>{3});
  EXPECT_EQ(position_of(Layout::linear, {}, {}).texel.x, 0);
}

TEST(TensorLayout, EmptyTensorsTakeNoSpace) {
  EXPECT_EQ(storage_bytes(Layout::rows, DataType::f16, {3, 0}), Bytes(0));
  EXPECT_TRUE(pack(Layout::linear, DataType::f32, {0}, nullptr).empty());
}

TEST(TensorLayout, RefusesShapesOfTheWrongRank) {
  EXPECT_THROW(grid_extent(Layout::channels, {3, 224, 224}), std::invalid_argument);
  EXPECT_THROW(grid_extent(Layout::conv_filter, {3}), std::invalid_argument);
  EXPECT_THROW(grid_extent(Layout::depthwise_filter, {8, 2, 3, 3}), std::invalid_argument);
  EXPECT_THROW(grid_extent(Layout::rows, {4, -1}), std::invalid_argument);
  EXPECT_THROW(position_of(Layout::rows, {4, 4}, {0, 4}), std::invalid_argument);
  EXPECT_THROW(position_of(Layout::rows, {4, 4}, {0}), std::invalid_argument);
}

TEST(TensorLayout, IntegersRoundAndSaturate) {
  const std::vector<float> values{-3, 2.6F, 300, 1e20F};
  const auto small = pack(Layout::linear, DataType::u8, {4}, values.data());
  EXPECT_EQ(small, (std::vector<std::uint8_t>{0, 3, 255, 255}));
  const auto wide = pack(Layout::linear, DataType::i32, {4}, values.data());
  EXPECT_EQ(unpack(Layout::linear, DataType::i32, {4}, wide.data())[3], 2147483648.0F);
}

TEST(TensorLayout, WordsAreReadBackAndMisspeltOnesExplained) {
  EXPECT_EQ(layout_from("conv_filter"), Layout::conv_filter);
  EXPECT_EQ(data_type_from("u8"), DataType::u8);
  EXPECT_EQ(to_string(Shape{1, 197, 768}), "[1, 197, 768]");
  try {
    layout_from("chanels");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'channels'?"));
  }
}

}  // namespace
}  // namespace fm
