// Which order a result is stored in, from who reads it.
#include "planner/layout/storage_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/layout/texel_index.hpp"

namespace fm {
namespace {

/// Graphs of nodes that matter here: shapes, movement, readers.
class SmallGraph {
 public:
  TensorIndex input(const Shape& shape) {
    const TensorIndex tensor = add(shape);
    graph_.inputs.push_back(tensor);
    return tensor;
  }
  TensorIndex node(const std::string& operation, std::vector<std::optional<TensorIndex>> inputs,
                   const Shape& shape, std::map<std::string, AttributeValue> attributes = {}) {
    const TensorIndex output = add(shape);
    graph_.nodes.push_back(
        {operation, operation, std::move(inputs), {output}, std::move(attributes), {}});
    return output;
  }
  TensorIndex transpose(TensorIndex input, const std::vector<std::int64_t>& order,
                        const Shape& shape) {
    return node("Transpose", {input}, shape, {{"perm", order}});
  }
  TensorIndex slice(TensorIndex input, std::size_t axis, std::int64_t from, const Shape& shape) {
    std::vector<std::int64_t> starts(shape.size(), 0);
    starts[axis] = from;
    return node("Slice", {input}, shape,
                {{"starts", starts}, {"steps", std::vector<std::int64_t>(shape.size(), 1)}});
  }
  void output(TensorIndex tensor) { graph_.outputs.push_back(tensor); }

  std::map<TensorIndex, StorageChoice> choices(const std::vector<TensorIndex>& maps = {}) const {
    return plan(maps).results;
  }
  StoragePlan plan(const std::vector<TensorIndex>& maps = {}) const {
    std::vector<Layout> layouts(graph_.tensors.size(), Layout::rows);
    for (TensorIndex tensor : maps) layouts[tensor] = Layout::channels;
    return choose_storage(graph_, layouts);
  }

 private:
  TensorIndex add(const Shape& shape) {
    graph_.tensors.push_back({"t", ElementType::float32, shape, std::nullopt});
    return graph_.tensors.size() - 1;
  }
  Graph graph_;
};

TEST(StorageChoice, HeadsOfAttentionLieHeadByHead) {
  SmallGraph graph;
  const TensorIndex x = graph.input({197, 768}), w = graph.input({768, 2304});
  const TensorIndex qkv = graph.node("MatMul", {x, w}, {197, 2304});
  std::vector<TensorIndex> parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    const TensorIndex rows = graph.slice(qkv, 1, 768 * i, {197, 768});
    const TensorIndex split = graph.node("Reshape", {rows}, {197, 12, 64});
    parts.push_back(i == 1 ? graph.transpose(split, {1, 2, 0}, {12, 64, 197})
                           : graph.transpose(split, {1, 0, 2}, {12, 197, 64}));
  }
  const TensorIndex scores = graph.node("MatMul", {parts[0], parts[1]}, {12, 197, 197});
  const TensorIndex heads = graph.node("MatMul", {scores, parts[2]}, {12, 197, 64});
  const TensorIndex side = graph.transpose(heads, {1, 0, 2}, {197, 12, 64});
  const TensorIndex merged = graph.node("Reshape", {side}, {197, 768});
  graph.output(graph.node("LayerNormalization", {merged}, {197, 768}));
  const auto choices = graph.choices();
  ASSERT_TRUE(choices.at(qkv).own.has_value());
  EXPECT_EQ(choices.at(qkv).own->shape, (Shape{3, 12, 197, 64}));
  EXPECT_EQ(choices.at(heads).own->shape, (Shape{197, 768}));
  EXPECT_EQ(choices.count(scores), 0u);  // its reader takes it as it is made
}

TEST(StorageChoice, TheSecondReductionDimensionLiesAlongTheGrid) {
  // Read as a right side [K, N] and as a transposed right side [N, K]: both reductions are served.
  SmallGraph graph;
  const TensorIndex a = graph.input({8, 32}), b = graph.input({8, 16});
  const TensorIndex x = graph.input({32, 8}), w = graph.input({8, 16});
  const TensorIndex t = graph.node("MatMul", {x, w}, {32, 16});
  graph.output(graph.node("MatMul", {a, t}, {8, 16}));
  graph.output(graph.node("MatMul", {b, graph.transpose(t, {1, 0}, {16, 32})}, {8, 32}));
  EXPECT_EQ(graph.choices().count(t), 0u);
}

TEST(StorageChoice, MapsOfTokensAreStoredAsTokens) {
  SmallGraph graph;
  const TensorIndex image = graph.input({1, 3, 32, 32}), filter = graph.input({64, 3, 8, 8});
  const TensorIndex map = graph.node("Conv", {image, filter}, {1, 64, 4, 4});
  const TensorIndex flat = graph.node("Reshape", {map}, {1, 64, 16});
  const TensorIndex tokens = graph.transpose(flat, {0, 2, 1}, {1, 16, 64});
  graph.output(graph.node("LayerNormalization", {tokens}, {1, 16, 64}));
  const auto choices = graph.choices({image, map});
  ASSERT_TRUE(choices.at(map).own.has_value());
  EXPECT_EQ(choices.at(map).own->layout, Layout::rows);
  EXPECT_EQ(choices.at(map).own->shape, (Shape{1, 16, 64}));
}

TEST(StorageChoice, TokensForAConvolutionAreStoredAsAMap) {
  SmallGraph graph;
  const TensorIndex x = graph.input({1, 16, 8}), w = graph.input({8, 64});
  const TensorIndex filter = graph.input({64, 64, 3, 3});
  const TensorIndex tokens = graph.node("MatMul", {x, w}, {1, 16, 64});
  const TensorIndex turned = graph.transpose(tokens, {0, 2, 1}, {1, 64, 16});
  const TensorIndex map = graph.node("Reshape", {turned}, {1, 64, 4, 4});
  const TensorIndex y = graph.node("Conv", {map, filter}, {1, 64, 4, 4});
  graph.output(y);
  const auto choices = graph.choices({map, y});
  ASSERT_TRUE(choices.at(tokens).own.has_value());
  EXPECT_EQ(choices.at(tokens).own->layout, Layout::channels);
  EXPECT_EQ(choices.at(tokens).own->shape, (Shape{1, 64, 4, 4}));
}

TEST(StorageChoice, AnElementwiseOperatorFollowsItsReader) {
  SmallGraph graph;
  const TensorIndex x = graph.input({6, 8}), w = graph.input({8, 32});
  const TensorIndex a = graph.node("MatMul", {x, w}, {6, 32});
  const TensorIndex b = graph.node("Relu", {a}, {6, 32});
  const TensorIndex split = graph.node("Reshape", {b}, {6, 4, 8});
  const TensorIndex heads = graph.transpose(split, {1, 0, 2}, {4, 6, 8});
  graph.output(graph.node("Softmax", {heads}, {4, 6, 8}, {{"axis", std::int64_t{2}}}));
  const auto choices = graph.choices();
  EXPECT_EQ(choices.at(b).own->shape, (Shape{4, 6, 8}));
  EXPECT_EQ(choices.at(a).own->shape, (Shape{4, 6, 8}));
}

TEST(StorageChoice, AnElementwiseOperatorBetweenBlocksWorksOnTheMapBeneath) {
  SmallGraph graph;
  const TensorIndex x = graph.input({1, 16, 4, 4}), filter = graph.input({16, 16, 1, 1});
  const TensorIndex a = graph.node("Conv", {x, filter}, {1, 16, 4, 4});
  const std::map<std::string, AttributeValue> two = {{"blocksize", std::int64_t{2}}};
  const TensorIndex b = graph.node("DepthToSpace", {a}, {1, 4, 8, 8}, two);
  const TensorIndex c = graph.node("Relu", {b}, {1, 4, 8, 8});
  const TensorIndex d = graph.node("SpaceToDepth", {c}, {1, 16, 4, 4}, two);
  const TensorIndex y = graph.node("Conv", {d, filter}, {1, 16, 4, 4});
  graph.output(y);
  const auto choices = graph.choices({x, a, d, y});
  EXPECT_EQ(choices.count(a), 0u);
  ASSERT_TRUE(choices.at(c).own.has_value());
  EXPECT_EQ(choices.at(c).own->layout, Layout::channels);
  EXPECT_EQ(choices.at(c).own->shape, (Shape{1, 16, 4, 4}));
}

TEST(StorageChoice, PartsAreWrittenWhereTheyAreJoined) {
  SmallGraph graph;
  const TensorIndex x = graph.input({5, 8}), w = graph.input({8, 16});
  const TensorIndex a = graph.node("MatMul", {x, w}, {5, 16});
  const TensorIndex b = graph.node("MatMul", {x, w}, {5, 16});
  const TensorIndex used_twice = graph.node("MatMul", {x, w}, {5, 16});
  const TensorIndex joined =
      graph.node("Concat", {a, b, used_twice}, {5, 48}, {{"axis", std::int64_t{1}}});
  graph.output(graph.node("Softmax", {joined}, {5, 48}, {{"axis", std::int64_t{1}}}));
  graph.output(graph.node("Softmax", {used_twice}, {5, 16}, {{"axis", std::int64_t{1}}}));
  const auto choices = graph.choices();
  EXPECT_EQ(graph.plan().joined.at(joined), Layout::rows);
  EXPECT_EQ(choices.at(a).concat, joined);
  EXPECT_EQ(choices.at(b).concat, joined);
  EXPECT_EQ(choices.at(b).map.element(Shape{2, 3}), 2 * 48 + 16 + 3);
  EXPECT_EQ(choices.count(used_twice), 0u);  // a kernel might read and write one image
}

TEST(StorageChoice, PartsOfAnOutputAreWrittenThere) {
  SmallGraph graph;
  const TensorIndex x = graph.input({5, 8}), w = graph.input({8, 16});
  const TensorIndex a = graph.node("MatMul", {x, w}, {5, 16});
  const TensorIndex b = graph.node("MatMul", {x, w}, {5, 16});
  const TensorIndex joined = graph.node("Concat", {a, b}, {5, 32}, {{"axis", std::int64_t{1}}});
  graph.output(joined);
  EXPECT_EQ(graph.plan().joined_outputs.count(joined), 1u);
  EXPECT_EQ(graph.plan().joined.at(joined), Layout::linear);
  EXPECT_EQ(graph.choices().at(b).concat, joined);
}

TEST(StorageChoice, PartsThatEndInsideATexelAreJoinedInALinearTensor) {
  SmallGraph graph;
  const TensorIndex x = graph.input({5, 8}), w = graph.input({8, 6});
  const TensorIndex a = graph.node("MatMul", {x, w}, {5, 6});
  const TensorIndex b = graph.node("MatMul", {x, w}, {5, 6});
  const TensorIndex joined = graph.node("Concat", {a, b}, {5, 12}, {{"axis", std::int64_t{1}}});
  graph.output(graph.node("Softmax", {joined}, {5, 12}, {{"axis", std::int64_t{1}}}));
  EXPECT_EQ(graph.plan().joined.at(joined), Layout::linear);
  EXPECT_EQ(graph.choices().at(a).concat, joined);
  EXPECT_EQ(graph.choices().at(b).concat, joined);
}

TEST(StorageChoice, FormsKeepEveryElement) {
  const Shape shape = {10, 48};
  for (std::int64_t from : {0, 16, 32}) {
    const IndexMap rows = sliced(IndexMap(shape), {0, from}, {1, 1}, {10, 16});
    const Reading reading{Layout::rows, transposed(reshaped(rows, {10, 2, 8}), {1, 0, 2}),
                          Reads::many};
    const auto form = form_of(reading, shape);
    ASSERT_TRUE(form.has_value());
    EXPECT_EQ(element_count(form->shape), element_count(shape));
    EXPECT_TRUE(inverse(form->map, form->shape).has_value());
    EXPECT_LT(reading_cost(*form, reading), 0.01 * 40);
  }
  // Backwards, or an element twice: no order of storage.
  EXPECT_FALSE(
      form_of({Layout::rows, sliced(IndexMap({4, 6}), {0, 5}, {1, -1}, {4, 6}), Reads::once},
              {4, 6})
          .has_value());
  EXPECT_FALSE(
      form_of({Layout::rows, expanded(IndexMap({4, 1}), {4, 6}), Reads::once}, {4, 1}).has_value());
}

}  // namespace
}  // namespace fm
