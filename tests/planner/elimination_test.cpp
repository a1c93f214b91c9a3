// What becomes of movement operators: index functions, and storage in the readers' order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/lowering.hpp"
#include "planner/movement_report.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Elimination : public testing::TestWithParam<PlacementPolicy> {
 protected:
  static Plan plan(const ModelBuilder& model, bool eliminate = true, bool fused_attention = false) {
    PlanOptions options;
    options.fused_attention = fused_attention;
    options.placement = GetParam();
    options.eliminate = eliminate;
    return plan_of(model, options);
  }
};

std::vector<std::string> operations(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanLaunch& launch : plan.launches) names.push_back(launch.operation);
  return names;
}

std::string index_of(const PlanLaunch& launch, const std::string& argument) {
  const auto found = launch.parameters.find("INDEX_" + argument);
  return found == launch.parameters.end() ? "" : found->second;
}

const PlanTensor& activation(const Plan& plan, const std::string& name) {
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.name == name && tensor.role == TensorRole::activation) return tensor;
  }
  throw std::out_of_range(name);
}

/// Self-attention of `heads` heads of 16, as exporters write it: one product makes queries, keys
/// and values, which are sliced, split into heads and transposed; the result is merged again.
ModelBuilder attention(std::int64_t tokens, std::int64_t heads) {
  const std::int64_t width = 16 * heads;
  ModelBuilder model;
  model.input("x", {tokens, width}).random_weight("w", {width, 3 * width});
  model.random_weight("b", {3 * width}).random_weight("o", {width, width});
  model.integers("split", {tokens, heads, 16}).integers("merge", {tokens, width});
  model.integers("axis", {1});
  model.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "b"}, {"qkv"});
  const char* const names[] = {"q", "k", "v"};
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::string name = names[i];
    model.integers(name + "_from", {i * width}).integers(name + "_to", {(i + 1) * width});
    model.node("Slice", {"qkv", name + "_from", name + "_to", "axis"}, {name + "_rows"});
    model.node("Reshape", {name + "_rows", "split"}, {name + "_split"});
    const Ints order = i == 1 ? Ints{1, 2, 0} : Ints{1, 0, 2};
    model.node("Transpose", {name + "_split"}, {name}, {{"perm", order}});
  }
  model.node("MatMul", {"q", "k"}, {"scores"}).node("Softmax", {"scores"}, {"p"});
  model.node("MatMul", {"p", "v"}, {"heads"});
  model.node("Transpose", {"heads"}, {"side"}, {{"perm", Ints{1, 0, 2}}});
  model.node("Reshape", {"side", "merge"}, {"rows"}).node("MatMul", {"rows", "o"}, {"y"});
  model.output("y");
  return model;
}

TEST_P(Elimination, AttentionMovesNothingButItsInput) {
  const Plan before = plan(attention(7, 3), false), after = plan(attention(7, 3));
  EXPECT_THAT(operations(before), ElementsAre("Move", "MatMul", "Move", "Move", "MatMul", "Softmax",
                                              "Move", "MatMul", "Move", "MatMul", "Move"));
  EXPECT_THAT(operations(after),
              ElementsAre("Move", "MatMul", "MatMul", "Softmax", "MatMul", "MatMul"));
  // The products write in their readers' order: head by head, and side by side again.
  EXPECT_EQ(activation(after, "qkv").shape, (Shape{3, 3, 7, 16}));
  EXPECT_EQ(index_of(after.launches[1], "c"), "x % 4, 7 * (x / 4) + y");
  EXPECT_EQ(index_of(after.launches[2], "a"), "");  // queries lie first
  EXPECT_EQ(index_of(after.launches[2], "b"), "x, y + 21");
  EXPECT_EQ(index_of(after.launches[4], "b"), "x, y + 42");
  EXPECT_EQ(index_of(after.launches[4], "c"), "x + 4 * (y / 7), y % 7");
  EXPECT_EQ(index_of(after.launches[5], "c"), "lane + 4 * x + 48 * y, 4");
}

TEST_P(Elimination, OneLaunchOfAttentionMovesNothingEither) {
  const Plan plan = this->plan(attention(8, 3), true, true);
  EXPECT_THAT(operations(plan), ElementsAre("Move", "MatMul", "Attention", "MatMul"));
  EXPECT_EQ(activation(plan, "qkv").shape, (Shape{3, 3, 8, 16}));
  EXPECT_EQ(index_of(plan.launches[2], "query"), "");
  EXPECT_EQ(index_of(plan.launches[2], "key"), "x, y + 24");
  EXPECT_EQ(index_of(plan.launches[2], "value"), "x, y + 48");
  EXPECT_EQ(index_of(plan.launches[2], "y"), "x + 4 * (y / 8), y % 8");
}

TEST_P(Elimination, PatchesBecomeTokensBesideTheClassToken) {
  ModelBuilder model;
  model.input("image", {1, 3, 16, 16}).random_weight("k", {8, 3, 4, 4});
  model.random_weight("class", {1, 1, 8}).random_weight("s", {8}).integers("flat", {1, 8, 16});
  model.node("Conv", {"image", "k"}, {"map"}, {{"strides", Ints{4, 4}}});
  model.node("Reshape", {"map", "flat"}, {"f"});
  model.node("Transpose", {"f"}, {"tokens"}, {{"perm", Ints{0, 2, 1}}});
  model.node("Concat", {"class", "tokens"}, {"all"}, {{"axis", std::int64_t{1}}});
  model.node("Softmax", {"all"}, {"y"}).output("y");
  const Plan plan = this->plan(model);
  EXPECT_THAT(operations(plan), ElementsAre("Move", "Conv", "Concat", "Softmax"));
  EXPECT_EQ(index_of(plan.launches[1], "y"), "x / 4, x % 4 + 4 * y + 1");
  EXPECT_EQ(index_of(plan.launches[2], "y"), "");  // the first row
}

TEST_P(Elimination, PartsOfAnOutputAreWrittenThere) {
  ModelBuilder model;
  model.input("x", {3, 8}).random_weight("w", {8, 8}).random_weight("v", {8, 5});
  model.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"x", "v"}, {"b"});
  model.node("Concat", {"a", "b"}, {"y"}, {{"axis", std::int64_t{1}}}).output("y");
  const Plan plan = this->plan(model);
  EXPECT_THAT(operations(plan), ElementsAre("Move", "MatMul", "MatMul"));
  EXPECT_EQ(index_of(plan.launches[2], "c"), "lane + 4 * x + 13 * y + 8, -4 * x + 5");
}

TEST_P(Elimination, PartsOffTexelBoundariesAreJoinedElementByElement) {
  ModelBuilder model;
  model.input("x", {1, 6, 4, 4}).random_weight("k", {6, 6, 1, 1});
  model.node("Conv", {"x", "k"}, {"a"}).node("Conv", {"a", "k"}, {"b"});
  model.node("Concat", {"a", "b"}, {"c"}, {{"axis", std::int64_t{1}}});
  model.node("MaxPool", {"c"}, {"y"}, {{"kernel_shape", Ints{2, 2}}}).output("y");
  const Plan plan = this->plan(model);
  // The second part is written in place; the first one is read by the second.
  EXPECT_THAT(operations(plan), ElementsAre("Move", "Conv", "Conv", "Concat", "Move", "MaxPool"));
  EXPECT_EQ(activation(plan, "c").layout, Layout::linear);
}

TEST_P(Elimination, DepthToSpaceAndBackIsNoLaunch) {
  ModelBuilder model;
  model.input("x", {1, 16, 4, 4})
      .random_weight("k", {16, 16, 1, 1})
      .random_weight("l", {4, 4, 3, 3});
  model.node("Conv", {"x", "k"}, {"a"});
  model.node("DepthToSpace", {"a"}, {"b"}, {{"blocksize", std::int64_t{2}}});
  model.node("Relu", {"b"}, {"c"});
  model.node("SpaceToDepth", {"c"}, {"d"}, {{"blocksize", std::int64_t{2}}});
  model.node("Conv", {"d", "k"}, {"y"}).output("y");
  EXPECT_THAT(operations(plan(model)), ElementsAre("Move", "Conv", "Relu", "Conv"));
}

TEST_P(Elimination, ADistinctNeedOfManyReadsGetsACopyOfItsOwn) {
  // One product reduces over the columns, the other over the rows, both as left sides.
  ModelBuilder model;
  model.input("x", {12, 8}).random_weight("w", {8, 16}).random_weight("u", {16, 8});
  model.random_weight("v", {12, 8});
  model.node("MatMul", {"x", "w"}, {"a"}).node("Transpose", {"a"}, {"t"});
  model.node("MatMul", {"a", "u"}, {"y"}).node("MatMul", {"t", "v"}, {"z"});
  model.output("y").output("z");
  const Plan plan = this->plan(model);
  EXPECT_THAT(operations(plan), ElementsAre("Move", "MatMul", "MatMul", "Move", "MatMul"));
}

TEST_P(Elimination, ARowOfALargerTensorIsReadWhereItLies) {
  ModelBuilder model;
  model.input("x", {1, 5, 8}).random_weight("w", {8, 8});
  model.integers("last", {-1});
  model.node("Softmax", {"x"}, {"s"});
  model.node("Gather", {"s", "last"}, {"g"}, {{"axis", std::int64_t{1}}});
  model.node("MatMul", {"g", "w"}, {"y"}).output("y");
  const Plan plan = this->plan(model);
  EXPECT_THAT(operations(plan), ElementsAre("Softmax", "MatMul"));
  EXPECT_EQ(index_of(plan.launches[1], "a"), "x, 4");
}

TEST_P(Elimination, NeverMovesMoreThanWithout) {
  for (std::int64_t tokens : {4, 7, 16}) {
    for (std::int64_t heads : {1, 2, 5}) {
      const MovementTotals after = movement_totals(plan(attention(tokens, heads)));
      const MovementTotals before = movement_totals(plan(attention(tokens, heads), false));
      EXPECT_EQ(after.launches, 1u);
      EXPECT_LT(after.bytes, before.bytes);
      EXPECT_EQ(before.index_functions, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, Elimination,
                         testing::Values(PlacementPolicy::buffer, PlacementPolicy::image2d),
                         [](const auto& tested) {
                           return tested.param == PlacementPolicy::buffer ? "Buffer" : "Image";
                         });

}  // namespace
}  // namespace fm
