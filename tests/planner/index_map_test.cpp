// Index maps against the elements themselves.
#include "planner/layout/index_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/layout/texel_index.hpp"
#include "tests/planner/movement_chain.hpp"

namespace fm {
namespace {

void expect_same_elements(const MovedTensor& tensor) {
  ASSERT_EQ(tensor.map.shape(), tensor.elements.shape);
  for_each_index(tensor.map.shape(), [&](const Shape& index) {
    ASSERT_EQ(tensor.map.element(index), tensor.elements.at(index)) << to_string(index);
  });
}

TEST(IndexMap, RandomChainsOfMovementOperators) {
  MovementChains chains(21);
  int strided = 0, split = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Shape base = trial % 2 == 0 ? Shape{2, 24, 4} : Shape{3, 4, 4, 5};
    const MovedTensor tensor = chains.make(base, 1 + trial % 6);
    expect_same_elements(tensor);
    ++(tensor.map.strided() ? strided : split);
  }
  EXPECT_GT(strided, 50);
  EXPECT_GT(split, 50);
}

TEST(IndexMap, ThePapersChainInTheConsumersIndices) {
  const IndexMap chain = transposed(reshaped(IndexMap({2, 256, 4}), {16, 8, 4, 4}), {0, 2, 1, 3});
  ASSERT_EQ(chain.shape(), (Shape{16, 4, 8, 4}));
  std::vector<IndexExpression> index;
  const char* names[] = {"i", "j", "k", "l"};
  for (std::size_t d = 0; d < 4; ++d) {
    index.push_back(IndexExpression::variable(names[d], chain.shape()[d]));
  }
  const IndexExpression element = chain.element(index);
  EXPECT_EQ(quotient(element, 1024).to_string(), "i / 8");
  EXPECT_EQ(remainder(quotient(element, 4), 256).to_string(), "32 * (i % 8) + j + 4 * k");
  EXPECT_EQ(remainder(element, 4).to_string(), "l");
  // The paper prints the other direction: i' = i * 8 + j / 32, j' = j % 4, k' = (j % 32) / 4, l' =
  // k.
  const auto back = inverse(chain, {2, 256, 4});
  ASSERT_TRUE(back.has_value());
  index = {IndexExpression::variable("i", 2), IndexExpression::variable("j", 256),
           IndexExpression::variable("k", 4)};
  const IndexExpression place = back->element(index);
  EXPECT_EQ(quotient(place, 128).to_string(), "8 * i + j / 32");
  EXPECT_EQ(remainder(quotient(place, 32), 4).to_string(), "j % 4");
  EXPECT_EQ(remainder(quotient(place, 4), 8).to_string(), "j / 4 % 8");
  EXPECT_EQ(remainder(place, 4).to_string(), "k");
}

TEST(IndexMap, ChainsThatStridesExpressAreOneView) {
  // Slice behind a reshape that merges: the heads of attention, from a product of all three.
  const IndexMap stored = reshaped(transposed(IndexMap({36, 197, 64}), {1, 0, 2}), {197, 2304});
  EXPECT_FALSE(stored.strided().has_value());
  const IndexMap keys = sliced(stored, {0, 768}, {1, 1}, {197, 768});
  const IndexMap heads = transposed(reshaped(keys, {197, 12, 64}), {1, 0, 2});
  const auto view = heads.strided();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->offset, 12 * 197 * 64);
  EXPECT_EQ(view->strides, (Shape{197 * 64, 64, 1}));
}

TEST(IndexMap, InverseIsTheOtherDirection) {
  MovementChains chains(22);
  int inverted = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const MovedTensor tensor = chains.make({2, 24, 4}, 1 + trial % 4);
    const auto back = inverse(tensor.map, tensor.base);
    if (!back) continue;
    ++inverted;
    const Numbered numbers = Numbered::dense(tensor.map.shape());
    for_each_index(tensor.map.shape(), [&](const Shape& index) {
      // The base element that has this index, and the index that it has.
      std::int64_t element = tensor.map.element(index);
      Shape at(tensor.base.size());
      for (std::size_t d = at.size(); d-- > 0; element /= tensor.base[d]) {
        at[d] = element % tensor.base[d];
      }
      ASSERT_EQ(back->element(at), numbers.at(index));
    });
  }
  EXPECT_GT(inverted, 40);
}

TEST(IndexMap, InverseNeedsAllElementsOnce) {
  EXPECT_FALSE(inverse(sliced(IndexMap({4, 6}), {0, 0}, {1, 1}, {4, 5}), {4, 6}).has_value());
  EXPECT_FALSE(inverse(expanded(IndexMap({4, 1}), {4, 6}), {4, 1}).has_value());
}

/// Every element of a tensor seen through a map, by where texel_index() says it is.
void expect_texels(const MovedTensor& tensor, Layout layout, const PlanTensor& stored) {
  const TexelIndex index = texel_index(tensor.map, layout, stored);
  for_each_index(tensor.map.shape(), [&](const Shape& at) {
    const ElementPosition own = position_of(layout, tensor.map.shape(), at);
    std::int64_t element = tensor.elements.at(at);
    Shape source(stored.shape.size());
    for (std::size_t d = source.size(); d-- > 0; element /= stored.shape[d]) {
      source[d] = element % stored.shape[d];
    }
    const ElementPosition expected = position_of(stored.layout, stored.shape, source);
    const std::map<std::string, std::int64_t> values = {
        {"x", own.texel.x}, {"y", own.texel.y}, {"lane", own.lane}};
    ASSERT_EQ(index.x.evaluate(values), expected.texel.x) << index.text();
    if (!index.linear) {
      ASSERT_EQ(index.y.evaluate(values), expected.texel.y) << index.text();
    }
    if (index.whole) {
      ASSERT_EQ(own.lane, expected.lane) << index.text();
    }
    if (!index.whole && !index.linear) {
      ASSERT_EQ(index.lane.evaluate(values), expected.lane);
    }
    if (!index.whole) {
      ASSERT_GT(index.valid.evaluate(values), own.lane);
    }
    if (index.plain) {
      ASSERT_TRUE(own.texel == expected.texel);
    }
  });
}

TEST(TexelIndex, RandomChainsBetweenAllLayouts) {
  MovementChains chains(23);
  int whole = 0, apart = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Shape base = trial % 3 == 0   ? Shape{2, 6, 4, 3}
                       : trial % 3 == 1 ? Shape{1, 8, 6, 4}
                                        : Shape{2, 3, 5, 12};
    PlanTensor stored;
    stored.shape = base;
    const Layout layouts[] = {Layout::rows, Layout::channels, Layout::linear};
    stored.layout = layouts[trial / 3 % 3];
    const MovedTensor tensor = chains.make(base, trial % 5);
    expect_texels(tensor, Layout::rows, stored);
    if (tensor.map.shape().size() == 4) expect_texels(tensor, Layout::channels, stored);
    ++(texel_index(tensor.map, Layout::rows, stored).whole ? whole : apart);
  }
  EXPECT_GT(whole, 40);
  EXPECT_GT(apart, 100);
}

TEST(TexelIndex, PaddingLanesAreOnlyReadWhereTheyAreZero) {
  PlanTensor stored;
  stored.layout = Layout::rows;
  stored.shape = {3, 5, 6};
  // Rows of six, in another order: whole texels, padding and all.
  EXPECT_TRUE(
      texel_index(transposed(IndexMap(stored.shape), {1, 0, 2}), Layout::rows, stored).whole);
  // The first five of six: the last texel's second element belongs to the stored row.
  EXPECT_FALSE(texel_index(sliced(IndexMap(stored.shape), {0, 0, 0}, {1, 1, 1}, {3, 5, 5}),
                           Layout::rows, stored)
                   .whole);
  // The last two of six, from the second texel on: they end where the row does.
  EXPECT_TRUE(texel_index(sliced(IndexMap(stored.shape), {0, 0, 4}, {1, 1, 1}, {3, 5, 2}),
                          Layout::rows, stored)
                  .whole);
  // The first four: no padding.
  EXPECT_TRUE(texel_index(sliced(IndexMap(stored.shape), {0, 0, 0}, {1, 1, 1}, {3, 5, 4}),
                          Layout::rows, stored)
                  .whole);
}

TEST(TexelIndex, ChannelsOfAMapAreTheRowsOfTokens) {
  PlanTensor stored;
  stored.layout = Layout::channels;
  stored.shape = {1, 768, 14, 14};
  const IndexMap tokens = transposed(reshaped(IndexMap(stored.shape), {1, 768, 196}), {0, 2, 1});
  EXPECT_EQ(texel_index(tokens, Layout::rows, stored).text(), "14 * x + y % 14, y / 14");
}

}  // namespace
}  // namespace fm
