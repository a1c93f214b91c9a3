// Each pass on the patterns it is for: the right nodes remain, and the graph computes what it did
// before.
#include "planner/passes/passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/graph_interpreter.hpp"
#include "tests/planner/model_builder.hpp"

namespace fm {
namespace {

using ::testing::ElementsAre;

/// Runs all passes, checks that the outputs keep their values, and returns the graph after them.
Graph fused(const ModelBuilder& builder, const UnfusedNodes& unfused = {},
            AttentionFusion attention = AttentionFusion::any) {
  const TemporaryFolder folder;
  ImportedModel model = import_model(builder.write(folder), {});
  const auto before = GraphInterpreter(model.graph, model.constants, false).run(7);
  run_passes(&model.graph, &model.constants, unfused, attention);
  const auto after = GraphInterpreter(model.graph, model.constants, true).run(7);
  EXPECT_EQ(before.size(), after.size());
  for (std::size_t o = 0; o < before.size() && o < after.size(); ++o) {
    EXPECT_EQ(before[o].size(), after[o].size());
    double largest = 0;
    for (double value : before[o]) largest = std::max(largest, std::fabs(value));
    for (std::size_t i = 0; i < std::min(before[o].size(), after[o].size()); ++i) {
      EXPECT_NEAR(before[o][i], after[o][i], 1e-5 * largest) << "output " << o << " element " << i;
    }
  }
  return model.graph;
}

std::vector<std::string> operations(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphNode& node : graph.nodes) names.push_back(node.operation);
  return names;
}

std::string activation_word(const GraphNode& node) {
  return attribute_word(node, "activation", "none");
}

ModelBuilder layer_norm_model(bool by_product, bool constant_first) {
  ModelBuilder model;
  model.input("x", {2, 5, 8}).scalar("two", 2).scalar("eps", 1e-6f);
  model.random_weight("gamma", {8}).random_weight("beta", {8});
  model.node("ReduceMean", {"x"}, {"mean"}, {{"axes", Ints{-1}}});
  model.node("Sub", {"x", "mean"}, {"d"});
  if (by_product) {
    model.node("Mul", {"d", "d"}, {"sq"});
  } else {
    model.node("Pow", {"d", "two"}, {"sq"});
  }
  model.node("ReduceMean", {"sq"}, {"var"}, {{"axes", Ints{2}}});
  model.node("Add", {"var", "eps"}, {"ve"})
      .node("Sqrt", {"ve"}, {"sd"})
      .node("Div", {"d", "sd"}, {"n"});
  if (constant_first) {
    model.node("Mul", {"gamma", "n"}, {"s"}).node("Add", {"beta", "s"}, {"y"});
  } else {
    model.node("Mul", {"n", "gamma"}, {"s"}).node("Add", {"s", "beta"}, {"y"});
  }
  model.output("y");
  return model;
}

TEST(LayerNormPass, JoinsNineNodes) {
  for (bool by_product : {false, true}) {
    for (bool constant_first : {false, true}) {
      const Graph graph = fused(layer_norm_model(by_product, constant_first));
      EXPECT_THAT(operations(graph), ElementsAre("LayerNormalization"));
      EXPECT_EQ(graph.nodes[0].fused_from.size(), 9u);
      EXPECT_FLOAT_EQ(attribute_float(graph.nodes[0], "epsilon", 0), 1e-6f);
    }
  }
}

TEST(LayerNormPass, LeavesAPatternWhoseInsideIsReadElsewhere) {
  ModelBuilder model = layer_norm_model(false, false);
  model.node("Relu", {"var"}, {"z"}).output("z");
  const Graph graph = fused(model);
  for (const std::string& name : operations(graph)) EXPECT_NE(name, "LayerNormalization");
}

TEST(LayerNormPass, LeavesReductionsOverOtherDimensions) {
  ModelBuilder model;
  model.input("x", {4, 8, 8}).scalar("two", 2).scalar("eps", 1e-6f);
  model.node("Transpose", {"x"}, {"t"}, {{"perm", Ints{0, 2, 1}}});
  model.node("ReduceMean", {"x"}, {"mean"}, {{"axes", Ints{-1}}});
  // The variance is that of another tensor.
  model.node("Sub", {"x", "mean"}, {"d"}).node("Pow", {"t", "two"}, {"sq"});
  model.node("ReduceMean", {"sq"}, {"var"}, {{"axes", Ints{-1}}});
  model.node("Add", {"var", "eps"}, {"ve"})
      .node("Sqrt", {"ve"}, {"sd"})
      .node("Div", {"d", "sd"}, {"y"});
  model.output("y");
  for (const std::string& name : operations(fused(model))) EXPECT_NE(name, "LayerNormalization");
}

TEST(GeluPass, JoinsTheErfFormInEveryOrder) {
  for (int order = 0; order < 3; ++order) {
    for (bool divide : {true, false}) {
      ModelBuilder model;
      model.input("x", {3, 8}).scalar("root", divide ? 1.41421354f : 0.70710677f);
      model.scalar("one", 1).scalar("half", 0.5f);
      model.node(divide ? "Div" : "Mul", {"x", "root"}, {"e"}).node("Erf", {"e"}, {"f"});
      model.node("Add", {"f", "one"}, {"g"});
      if (order == 0) model.node("Mul", {"x", "g"}, {"h"}).node("Mul", {"h", "half"}, {"y"});
      if (order == 1) model.node("Mul", {"half", "g"}, {"h"}).node("Mul", {"x", "h"}, {"y"});
      if (order == 2) model.node("Mul", {"x", "half"}, {"h"}).node("Mul", {"h", "g"}, {"y"});
      model.output("y");
      EXPECT_THAT(operations(fused(model)), ElementsAre("Gelu")) << order << divide;
    }
  }
}

TEST(GeluPass, JoinsTheTanhForm) {
  ModelBuilder model;
  model.input("x", {3, 8}).scalar("three", 3).scalar("c", 0.044715f).scalar("s", 0.7978846f);
  model.scalar("one", 1).scalar("half", 0.5f);
  model.node("Pow", {"x", "three"}, {"x3"})
      .node("Mul", {"x3", "c"}, {"t"})
      .node("Add", {"x", "t"}, {"u"});
  model.node("Mul", {"u", "s"}, {"v"}).node("Tanh", {"v"}, {"w"}).node("Add", {"w", "one"}, {"g"});
  model.node("Mul", {"x", "g"}, {"h"}).node("Mul", {"h", "half"}, {"y"}).output("y");
  const Graph graph = fused(model);
  ASSERT_THAT(operations(graph), ElementsAre("Gelu"));
  EXPECT_EQ(attribute_word(graph.nodes[0], "approximate", ""), "tanh");
}

TEST(GeluPass, LeavesAnotherFunctionOfErf) {
  ModelBuilder model;
  model.input("x", {3, 8})
      .input("z", {3, 8})
      .scalar("root", 1.41421354f)
      .scalar("one", 1)
      .scalar("half", 0.5f);
  model.node("Div", {"x", "root"}, {"e"})
      .node("Erf", {"e"}, {"f"})
      .node("Add", {"f", "one"}, {"g"});
  model.node("Mul", {"z", "g"}, {"h"}).node("Mul", {"h", "half"}, {"y"}).output("y");
  for (const std::string& name : operations(fused(model))) EXPECT_NE(name, "Gelu");
}

TEST(GatedActivationPass, FindsHardSwishHardSigmoidAndSilu) {
  ModelBuilder model(11);
  model.input("x", {3, 8}).scalar("three", 3).scalar("zero", 0).scalar("six", 6);
  model.node("Add", {"x", "three"}, {"a"}).node("Clip", {"a", "zero", "six"}, {"b"});
  model.node("Mul", {"x", "b"}, {"c"}).node("Div", {"c", "six"}, {"swish"});
  model.node("Add", {"swish", "three"}, {"d"}).node("Clip", {"d", "zero", "six"}, {"e"});
  model.node("Div", {"e", "six"}, {"gate"});
  model.node("Sigmoid", {"gate"}, {"s"}).node("Mul", {"s", "gate"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("HardSwish", "HardSigmoid", "Silu"));
}

TEST(GatedActivationPass, LeavesTheGateOfAnotherTensor) {
  ModelBuilder model;
  model.input("x", {3, 8}).input("z", {3, 8});
  model.node("HardSigmoid", {"x"}, {"g"}).node("Mul", {"z", "g"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("HardSigmoid", "Mul"));
}

ModelBuilder& add_convolution(ModelBuilder& model, const std::string& x, const std::string& y,
                              bool bias) {
  model.random_weight(y + ".w", {6, 4, 3, 3});
  if (bias) model.random_weight(y + ".b", {6});
  std::vector<std::string> inputs = {x, y + ".w"};
  if (bias) inputs.push_back(y + ".b");
  return model.node("Conv", inputs, {y}, {{"pads", Ints{1, 1, 1, 1}}});
}

ModelBuilder& add_batch_norm(ModelBuilder& model, const std::string& x, const std::string& y,
                             std::int64_t channels) {
  model.random_weight(y + ".g", {channels}).random_weight(y + ".h", {channels});
  model.random_weight(y + ".m", {channels}).random_weight(y + ".v", {channels}, 0.1f, 1);
  return model.node("BatchNormalization", {x, y + ".g", y + ".h", y + ".m", y + ".v"}, {y});
}

TEST(BatchNormPass, FoldsIntoAConvolutionWithAndWithoutBias) {
  for (bool bias : {false, true}) {
    ModelBuilder model;
    model.input("x", {1, 4, 5, 6});
    add_convolution(model, "x", "c", bias);
    add_batch_norm(model, "c", "n", 6).node("Relu", {"n"}, {"y"}).output("y");
    const Graph graph = fused(model);
    ASSERT_THAT(operations(graph), ElementsAre("Conv"));
    EXPECT_EQ(activation_word(graph.nodes[0]), "relu");
    EXPECT_THAT(graph.nodes[0].fused_from, ElementsAre("Conv:c", "BatchNormalization:n", "Relu:y"));
  }
}

TEST(BatchNormPass, WithoutConvolutionBecomesProductAndSum) {
  ModelBuilder model;
  model.input("x", {1, 6, 5, 6});
  add_batch_norm(model, "x", "y", 6).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Mul", "Add"));
}

TEST(BatchNormPass, KeepsAConvolutionThatOthersRead) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6});
  add_convolution(model, "x", "c", true);
  add_batch_norm(model, "c", "n", 6).node("Sigmoid", {"c"}, {"z"}).output("n").output("z");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Conv", "Mul", "Add", "Sigmoid"));
}

TEST(AffinePass, FoldsScalarsAndChannelConstants) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).weight("s", {1}, {1.5f}).weight("t", {1}, {-0.25f});
  model.random_weight("cs", {1, 6, 1, 1}, 0.5f, 2).random_weight("ct", {6, 1, 1});
  add_convolution(model, "x", "c", false);
  model.node("Mul", {"s", "c"}, {"a"}).node("Add", {"a", "t"}, {"b"});
  model.node("Div", {"b", "cs"}, {"d"}).node("Sub", {"d", "ct"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Conv"));
}

TEST(AffinePass, LeavesWhatIsNoChannelConstant) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).random_weight("map", {1, 1, 5, 6}).scalar("one", 1);
  add_convolution(model, "x", "c", true);
  model.node("Mul", {"c", "map"}, {"m"}).node("Sub", {"one", "m"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Conv", "Mul", "Sub"));
}

TEST(ProductPass, TransposedConvolutionTakesBiasBatchNormAndActivation) {
  ModelBuilder model;
  model.input("x", {1, 3, 4, 5}).random_weight("w", {3, 6, 2, 2}).random_weight("b", {1, 6, 1, 1});
  model.node("ConvTranspose", {"x", "w"}, {"c"}, {{"strides", Ints{2, 2}}});
  model.node("Add", {"c", "b"}, {"d"});
  add_batch_norm(model, "d", "n", 6).node("Sigmoid", {"n"}, {"y"}).output("y");
  const Graph graph = fused(model);
  ASSERT_THAT(operations(graph), ElementsAre("ConvTranspose"));
  EXPECT_EQ(graph.tensors[*graph.nodes[0].inputs[1]].shape, (Shape{6, 3, 2, 2}));
}

TEST(ProductPass, GemmFormsBecomeOne) {
  for (std::int64_t transposed_a : {0, 1}) {
    for (std::int64_t transposed_b : {0, 1}) {
      ModelBuilder model;
      model.input("x", transposed_a ? Shape{5, 3} : Shape{3, 5});
      model.random_weight("w", transposed_b ? Shape{7, 5} : Shape{5, 7}).random_weight("b", {7});
      model.node(
          "Gemm", {"x", "w", "b"}, {"y"},
          {{"transA", transposed_a}, {"transB", transposed_b}, {"alpha", 0.5f}, {"beta", 2.0f}});
      model.output("y");
      const Graph graph = fused(model);
      EXPECT_EQ(operations(graph).back(), "Gemm");
      EXPECT_EQ(graph.nodes.size(), transposed_a ? 2u : 1u);
      EXPECT_EQ(graph.tensors[*graph.nodes.back().inputs[1]].shape, (Shape{5, 7}));
    }
  }
}

TEST(ProductPass, GemmAddsAMatrixAsResidual) {
  ModelBuilder model;
  model.input("x", {3, 5}).input("c", {3, 7}).random_weight("w", {5, 7});
  model.node("Gemm", {"x", "w", "c"}, {"y"}).output("y");
  const Graph graph = fused(model);
  ASSERT_THAT(operations(graph), ElementsAre("Gemm"));
  EXPECT_EQ(graph.nodes[0].inputs.size(), 4u);
}

TEST(ProductPass, BiasOnEitherSideAndActivation) {
  for (bool first : {false, true}) {
    ModelBuilder model;
    model.input("x", {2, 3, 4}).random_weight("w", {4, 8}).random_weight("b", {8});
    model.node("MatMul", {"x", "w"}, {"m"});
    model.node("Add",
               first ? std::vector<std::string>{"b", "m"} : std::vector<std::string>{"m", "b"},
               {"s"});
    model.node("Sigmoid", {"s"}, {"y"}).output("y");
    const Graph graph = fused(model);
    ASSERT_THAT(operations(graph), ElementsAre("MatMul"));
    EXPECT_EQ(activation_word(graph.nodes[0]), "sigmoid");
  }
}

TEST(AttentionPass, TakesScalesAndMask) {
  ModelBuilder model;
  model.input("q", {2, 3, 4})
      .input("k", {2, 3, 4})
      .input("v", {2, 3, 4})
      .random_weight("mask", {1, 3, 3});
  model.scalar("eight", 8).scalar("third", 0.3f);
  model.node("Div", {"q", "eight"}, {"qs"}).node("Mul", {"k", "third"}, {"ks"});
  model.node("Transpose", {"ks"}, {"kt"}, {{"perm", Ints{0, 2, 1}}});
  model.node("MatMul", {"qs", "kt"}, {"scores"}).node("Add", {"scores", "mask"}, {"masked"});
  model.node("Softmax", {"masked"}, {"p"}, {{"axis", std::int64_t{-1}}});
  model.node("MatMul", {"p", "v"}, {"y"}).output("y");
  const Graph graph = fused(model, {}, AttentionFusion::none);
  ASSERT_THAT(operations(graph), ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));
  EXPECT_NEAR(attribute_float(graph.nodes[1], "scale", 1), 0.3 / 8, 1e-7);
  EXPECT_EQ(graph.nodes[2].inputs.size(), 2u);
}

/// Scores [2, 3, 3] where `mask` is true, else `fill`, through a softmax.
ModelBuilder masked_softmax(const std::vector<std::int64_t>& mask, float fill) {
  ModelBuilder model;
  model.input("q", {2, 3, 4}).input("k", {2, 4, 3}).scalar("fill", fill);
  onnx::TensorProto* condition = model.initializer("allowed", {1, 3, 3}, onnx::TensorProto::BOOL);
  for (const std::int64_t value : mask) condition->add_int32_data(static_cast<int>(value));
  model.node("MatMul", {"q", "k"}, {"scores"});
  model.node("Where", {"allowed", "scores", "fill"}, {"masked"});
  model.node("Softmax", {"masked"}, {"y"}, {{"axis", std::int64_t{-1}}}).output("y");
  return model;
}

TEST(MaskPass, WhereBeforeASoftmaxBecomesItsMask) {
  const std::vector<std::int64_t> causal = {1, 0, 0, 1, 1, 0, 1, 1, 1};
  for (float fill : {-1e4f, -65504.0f, -3.4e38f}) {
    const Graph graph = fused(masked_softmax(causal, fill));
    EXPECT_THAT(operations(graph), ElementsAre("MatMul", "Softmax"));
    EXPECT_EQ(graph.nodes[1].inputs.size(), 2u);
  }
}

TEST(MaskPass, LeavesSmallFillsAndRowsThatAreMaskedWhole) {
  const std::vector<std::int64_t> causal = {1, 0, 0, 1, 1, 0, 1, 1, 1};
  EXPECT_THAT(operations(fused(masked_softmax(causal, -5))),
              ElementsAre("MatMul", "Where", "Softmax"));
  EXPECT_THAT(operations(fused(masked_softmax({0, 0, 0, 1, 1, 0, 1, 1, 1}, -1e9f))),
              ElementsAre("MatMul", "Where", "Softmax"));
}

/// Rows of a table of `rows` x 64 at the input "ids", and that table as the head of a product.
ModelBuilder tied_model(std::int64_t rows, bool by_gemm) {
  ModelBuilder model;
  model.input("ids", {6}, onnx::TensorProto::INT64).random_weight("table", {rows, 64});
  model.node("Gather", {"table", "ids"}, {"x"}).node("Relu", {"x"}, {"h"});
  if (by_gemm) {
    model.node("Gemm", {"h", "table"}, {"y"}, {{"transB", std::int64_t{1}}});
  } else {
    model.node("Transpose", {"table"}, {"head"}, {{"perm", Ints{1, 0}}});
    model.node("MatMul", {"h", "head"}, {"y"});
  }
  model.output("y");
  return model;
}

TEST(EmbeddingPass, AHeadReadsTheTableAsItLies) {
  for (bool by_gemm : {false, true}) {
    const Graph graph = fused(tied_model(1000, by_gemm));
    EXPECT_THAT(operations(graph), ElementsAre("GatherRows", "Relu", by_gemm ? "Gemm" : "MatMul"));
    EXPECT_EQ(graph.nodes[2].inputs[1], graph.nodes[0].inputs[1]);
  }
}

TEST(EmbeddingPass, LeavesTablesThatAreNotWorthIt) {
  ModelBuilder model;
  model.input("ids", {6}, onnx::TensorProto::INT64).random_weight("table", {1000, 8});
  model.node("Gather", {"table", "ids"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Gather"));
}

TEST(EmbeddingPass, TurnedMatricesOfOtherProductsAreFolded) {
  ModelBuilder model;
  model.input("x", {3, 80}).random_weight("w", {70, 80});
  model.node("Transpose", {"w"}, {"t"}, {{"perm", Ints{1, 0}}});
  model.node("MatMul", {"x", "t"}, {"y"}).output("y");
  const Graph graph = fused(model);
  EXPECT_THAT(operations(graph), ElementsAre("MatMul"));
  EXPECT_EQ(graph.tensors[graph.nodes[0].inputs[1].value()].shape, (Shape{80, 70}));
}

TEST(AttentionPass, TakesTheScaleOfTheScores) {
  ModelBuilder model;
  model.input("q", {2, 3, 4}).input("k", {2, 4, 3}).scalar("s", 0.125f);
  model.node("MatMul", {"q", "k"}, {"scores"}).node("Mul", {"scores", "s"}, {"scaled"});
  model.node("Softmax", {"scaled"}, {"y"}, {{"axis", std::int64_t{-1}}}).output("y");
  const Graph graph = fused(model);
  ASSERT_THAT(operations(graph), ElementsAre("MatMul", "Softmax"));
  EXPECT_FLOAT_EQ(attribute_float(graph.nodes[0], "scale", 1), 0.125f);
}

TEST(EpiloguePass, ResidualBeforeAndAfterTheActivation) {
  for (bool after : {false, true}) {
    ModelBuilder model;
    model.input("x", {1, 4, 5, 6}).input("r", {1, 6, 5, 6});
    add_convolution(model, "x", "c", true);
    if (after) {
      model.node("Add", {"c", "r"}, {"s"}).node("Relu", {"s"}, {"y"});
    } else {
      model.node("Relu", {"c"}, {"s"}).node("Add", {"r", "s"}, {"y"});
    }
    const Graph graph = fused(model.output("y"));
    ASSERT_THAT(operations(graph), ElementsAre("Conv"));
    EXPECT_EQ(attribute_int(graph.nodes[0], "activation_after_residual", 0), after ? 1 : 0);
    EXPECT_EQ(graph.nodes[0].inputs.size(), 4u);
  }
}

TEST(EpiloguePass, OneActivationIsAllAnEpilogueHas) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).input("r", {1, 6, 5, 6});
  add_convolution(model, "x", "c", true);
  model.node("Sigmoid", {"c"}, {"a"})
      .node("Add", {"a", "r"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Conv", "Add"));
}

TEST(EpiloguePass, TheLaterOfTwoBranchesTakesTheSum) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6});
  add_convolution(model, "x", "a", true);
  add_convolution(model, "x", "b", false);
  model.node("Add", {"b", "a"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  const Graph graph = fused(model);
  ASSERT_THAT(operations(graph), ElementsAre("Conv", "Conv"));
  EXPECT_EQ(graph.nodes[1].inputs[3], graph.nodes[0].outputs[0]);
}

TEST(EpiloguePass, ResidualThroughAReshape) {
  ModelBuilder model;
  model.input("x", {3, 4}).input("r", {1, 3, 8}).random_weight("w", {4, 8}).random_weight("b", {8});
  model.integers("three", {3, 1, 8});
  model.node("Gemm", {"x", "w", "b"}, {"g"}).node("Reshape", {"g", "three"}, {"h"});
  model.node("Transpose", {"h"}, {"t"}, {{"perm", Ints{1, 0, 2}}});
  model.node("Add", {"t", "r"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Reshape", "Gemm", "Reshape"));
}

TEST(EpiloguePass, LeavesChosenNodesUnfused) {
  ModelBuilder model;
  model.input("x", {3, 4}).input("r", {3, 8}).random_weight("w", {4, 8}).random_weight("b", {8});
  model.node("MatMul", {"x", "w"}, {"p"})
      .node("Add", {"p", "b"}, {"c"})
      .node("Add", {"c", "r"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("MatMul"));
  EXPECT_THAT(operations(fused(model, {"Relu:y"})), ElementsAre("MatMul", "Relu"));
  EXPECT_THAT(operations(fused(model, {"Add:s"})), ElementsAre("MatMul", "Add"));
  EXPECT_THAT(operations(fused(model, {"Add:s", "Relu:y"})), ElementsAre("MatMul", "Add", "Relu"));
  EXPECT_THAT(operations(fused(model, {"Add:c"})), ElementsAre("MatMul")) << "the bias stays";
}

TEST(EpiloguePass, EverySplitItOffersLeavesTwoNodes) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).input("r", {1, 6, 5, 6});
  add_convolution(model, "x", "c", true);
  model.node("Add", {"c", "r"}, {"s"}).node("Relu", {"s"}, {"t"});
  model.node("Softmax", {"t"}, {"y"}, {{"axis", std::int64_t{3}}}).output("y");
  UnfusedNodes unfused;
  std::size_t nodes = fused(model).nodes.size();
  for (int round = 0; round < 2; ++round) {
    const auto splits = epilogue_splits(fused(model, unfused));
    ASSERT_FALSE(splits.empty());
    unfused.insert(splits[0].unfused);
    EXPECT_EQ(fused(model, unfused).nodes.size(), ++nodes);
  }
  EXPECT_TRUE(epilogue_splits(fused(model, unfused)).empty()) << "softmax is never split";
}

TEST(EpiloguePass, AddingATensorToItselfStays) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6});
  add_convolution(model, "x", "c", true);
  model.node("Add", {"c", "c"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("Conv", "Add"));
}

TEST(IdentityPass, RemovesWhatDoesNothingAndKeepsTheOutputsName) {
  ModelBuilder model;
  model.input("x", {2, 1, 6})
      .integers("same", {2, 1, 6})
      .integers("flat", {12})
      .integers("square", {3, 4});
  model.node("Identity", {"x"}, {"a"})
      .node("Dropout", {"a"}, {"b"})
      .node("Reshape", {"b", "same"}, {"c"});
  model.node("Reshape", {"c", "flat"}, {"d"}).node("Reshape", {"d", "square"}, {"e"});
  model.node("Relu", {"e"}, {"f"}).node("Identity", {"f"}, {"y"}).output("y");
  const Graph graph = fused(model);
  EXPECT_THAT(operations(graph), ElementsAre("Reshape", "Relu", "Identity"));
  EXPECT_EQ(graph.tensors[graph.outputs[0]].name, "y");
}

TEST(PaddingPass, JoinsTheConvolutionsOwnPads) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).integers("pads", {0, 0, 1, 0, 0, 0, 2, 3});
  model.node("Pad", {"x", "pads"}, {"p"});
  add_convolution(model, "p", "y", true).output("y");
  const Graph graph = fused(model);
  ASSERT_THAT(operations(graph), ElementsAre("Conv"));
  EXPECT_THAT(attribute_ints(graph.nodes[0], "pads"), ElementsAre(2, 1, 3, 4));
}

}  // namespace
}  // namespace fm
