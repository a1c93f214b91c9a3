// Which launches a graph becomes without elimination (--no-elimination): views cost none, layouts
// change where they must. With it: elimination_test.cpp.
#include "planner/lowering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> operations(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanLaunch& launch : plan.launches) names.push_back(launch.operation);
  return names;
}

Plan buffers(const ModelBuilder& model) {
  PlanOptions options;
  options.placement = PlacementPolicy::buffer;
  options.eliminate = false;
  return plan_of(model, options);
}

TEST(Lowering, ReshapesThatKeepRowsCostNothing) {
  ModelBuilder model;
  model.input("x", {6, 8})
      .integers("s", {2, 3, 8})
      .integers("t", {1, 6, 8})
      .random_weight("w", {8, 8});
  model.node("MatMul", {"x", "w"}, {"a"})
      .node("Reshape", {"a", "s"}, {"b"})
      .node("Softmax", {"b"}, {"c"});
  model.node("Reshape", {"c", "t"}, {"d"}).node("MatMul", {"d", "w"}, {"y"}).output("y");
  EXPECT_THAT(operations(buffers(model)),
              ElementsAre("Move", "MatMul", "Softmax", "MatMul", "Move"));
}

TEST(Lowering, ChainsOfViewsBecomeOneMove) {
  ModelBuilder model;
  model.input("x", {5, 24}).random_weight("w", {24, 24}).integers("s", {5, 3, 8});
  model.integers("zero", {0}).integers("four", {4});
  model.node("MatMul", {"x", "w"}, {"a"}).node("Reshape", {"a", "s"}, {"b"});
  model.node("Transpose", {"b"}, {"c"}, {{"perm", Ints{1, 0, 2}}});
  model.node("Slice", {"c", "zero", "four", "zero"}, {"d"});
  model.node("Softmax", {"d"}, {"y"}).output("y");
  EXPECT_THAT(operations(buffers(model)), ElementsAre("Move", "MatMul", "Move", "Softmax", "Move"));
}

TEST(Lowering, TheSameViewIsMovedOnce) {
  ModelBuilder model;
  model.input("x", {4, 8}).random_weight("w", {8, 8});
  model.node("MatMul", {"x", "w"}, {"a"})
      .node("Transpose", {"a"}, {"t"})
      .node("Transpose", {"a"}, {"u"});
  model.node("Softmax", {"t"}, {"p"})
      .node("Softmax", {"u"}, {"q"})
      .node("MatMul", {"a", "p"}, {"y"});
  model.output("y").output("q");
  const auto names = operations(buffers(model));
  EXPECT_EQ(std::count(names.begin(), names.end(), "Move"), 4);  // input, transpose, two outputs
}

TEST(Lowering, AProductReadsATransposedOperandAsItLies) {
  ModelBuilder model;
  model.input("q", {2, 5, 8}).input("k", {2, 5, 8}).random_weight("w", {8, 8});
  model.node("MatMul", {"q", "w"}, {"a"}).node("MatMul", {"k", "w"}, {"b"});
  model.node("Transpose", {"b"}, {"t"}, {{"perm", Ints{0, 2, 1}}});
  model.node("MatMul", {"a", "t"}, {"y"}).output("y");
  const Plan plan = buffers(model);
  EXPECT_THAT(operations(plan), ElementsAre("Move", "MatMul", "Move", "MatMul", "MatMul", "Move"));
  EXPECT_EQ(plan.launches[4].parameters.at("B_TRANSPOSED"), "1");
}

TEST(Lowering, GlobalPoolingToAProductNeedsNoMove) {
  ModelBuilder model;
  model.input("x", {1, 8, 4, 4}).random_weight("w", {10, 8}).random_weight("k", {8, 8, 1, 1});
  model.node("Conv", {"x", "k"}, {"c"})
      .node("GlobalAveragePool", {"c"}, {"p"})
      .node("Flatten", {"p"}, {"f"});
  model.node("Gemm", {"f", "w"}, {"y"}, {{"transB", std::int64_t{1}}}).output("y");
  EXPECT_THAT(operations(buffers(model)),
              ElementsAre("Move", "Conv", "GlobalAveragePool", "Gemm", "Move"));
}

TEST(Lowering, LayoutsFollowTheOperators) {
  ModelBuilder model;
  model.input("x", {1, 8, 4, 4}).random_weight("k", {8, 8, 1, 1}).random_weight("s", {1, 8, 4, 4});
  model.integers("tokens", {1, 8, 16});
  model.node("Add", {"x", "s"}, {"a"}).node("Conv", {"a", "k"}, {"c"});
  model.node("Reshape", {"c", "tokens"}, {"r"})
      .node("Transpose", {"r"}, {"t"}, {{"perm", Ints{0, 2, 1}}});
  model.node("Softmax", {"t"}, {"y"}).output("y");
  const Plan plan = buffers(model);
  EXPECT_THAT(operations(plan), ElementsAre("Move", "Add", "Conv", "Move", "Softmax", "Move"));
  std::map<std::string, Layout> layouts;
  for (const PlanTensor& tensor : plan.tensors) layouts[tensor.name] = tensor.layout;
  EXPECT_EQ(layouts.at("a"), Layout::channels);  // an elementwise operator joins its neighbour
  EXPECT_EQ(layouts.at("k"), Layout::conv_filter);
  EXPECT_EQ(layouts.at("t"), Layout::rows);
}

TEST(Lowering, ConcatenationOffTexelBoundariesGoesThroughLinear) {
  for (bool aligned : {true, false}) {
    ModelBuilder model;
    const std::int64_t channels = aligned ? 8 : 6;
    model.input("x", {1, channels, 4, 4}).random_weight("k", {channels, channels, 1, 1});
    model.node("Conv", {"x", "k"}, {"a"}).node("Conv", {"a", "k"}, {"b"});
    model.node("Concat", {"a", "b"}, {"c"}, {{"axis", std::int64_t{1}}});
    model.node("MaxPool", {"c"}, {"y"}, {{"kernel_shape", Ints{2, 2}}}).output("y");
    const Plan plan = buffers(model);
    const auto names = operations(plan);
    EXPECT_EQ(std::count(names.begin(), names.end(), "Move"), aligned ? 2 : 5);
    for (const PlanTensor& tensor : plan.tensors) {
      if (tensor.name == "c" && tensor.role == TensorRole::activation && aligned) {
        EXPECT_EQ(tensor.layout, Layout::channels);
      }
    }
  }
}

TEST(Lowering, InputsAndOutputsAreLinearFloats) {
  ModelBuilder model;
  model.input("x", {3, 8}).node("Relu", {"x"}, {"y"}).output("y");
  const Plan plan = buffers(model);
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.role == TensorRole::activation) continue;
    EXPECT_EQ(tensor.layout, Layout::linear);
    EXPECT_EQ(tensor.dtype, DataType::f32);
    EXPECT_EQ(tensor.placement, Placement::buffer);
  }
}

TEST(Lowering, LaunchesNameTheirNodes) {
  ModelBuilder model;
  model.input("x", {3, 8}).random_weight("w", {8, 8}).random_weight("b", {8});
  model.node("MatMul", {"x", "w"}, {"m"})
      .node("Add", {"m", "b"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .output("y");
  const Plan plan = buffers(model);
  EXPECT_THAT(plan.launch("L1").nodes, ElementsAre("MatMul:m", "Add:s", "Relu:y"));
  EXPECT_EQ(plan.launch("L1").macs, 3u * 8 * 8);
}

TEST(Lowering, NamesTheNodeThatNoKernelServes) {
  ModelBuilder grouped;
  grouped.input("x", {1, 8, 4, 4}).random_weight("k", {6, 4, 3, 3});
  grouped.node("Conv", {"x", "k"}, {"y"}, {{"group", std::int64_t{4}}}).output("y");
  EXPECT_THAT(user_error_of([&] { buffers(grouped); }),
              AllOf(HasSubstr("node `Conv:y` (Conv, opset 14)"), HasSubstr("4 groups")));
  ModelBuilder sorted;
  sorted.input("x", {4000});
  sorted.node("TopK", {"x"}, {"y", "at"}, {{"k", std::int64_t{2}}}).output("y");
  EXPECT_THAT(user_error_of([&] { buffers(sorted); }),
              AllOf(HasSubstr("node `TopK:y` (TopK, opset 14)"), HasSubstr("2048")));
}

TEST(Lowering, RuntimeIndicesAreIntegerInputs) {
  ModelBuilder model;
  model.input("ids", {5}, onnx::TensorProto::INT64).random_weight("table", {30, 8});
  model.node("Gather", {"table", "ids"}, {"e"}).node("Softmax", {"e"}, {"y"}).output("y");
  const Plan plan = buffers(model);
  EXPECT_THAT(operations(plan), ElementsAre("Gather", "Softmax", "Move"));
  EXPECT_EQ(plan.tensors[0].dtype, DataType::i32);
}

}  // namespace
}  // namespace fm
