// Which products around a softmax become one launch of attention, and what it computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "planner/passes/passes.hpp"
#include "tests/planner/graph_interpreter.hpp"
#include "tests/planner/model_builder.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::vector<std::string> operations(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphNode& node : graph.nodes) names.push_back(node.operation);
  return names;
}

/// The graph after all passes, whose outputs must be those before.
Graph fused(const ModelBuilder& builder, AttentionFusion attention = AttentionFusion::any) {
  const TemporaryFolder folder;
  ImportedModel model = import_model(builder.write(folder), {});
  const auto before = GraphInterpreter(model.graph, model.constants, false).run(7);
  run_passes(&model.graph, &model.constants, {}, attention);
  const auto after = GraphInterpreter(model.graph, model.constants, true).run(7);
  for (std::size_t o = 0; o < before.size(); ++o) {
    EXPECT_EQ(before[o].size(), after.at(o).size());
    for (std::size_t i = 0; i < before[o].size(); ++i) {
      EXPECT_NEAR(before[o][i], after[o][i], 1e-5) << "output " << o << " element " << i;
    }
  }
  return model.graph;
}

/// Attention of 2 x 3 heads in the making; each step can be left out or made another.
struct Heads {
  ModelBuilder model;
  std::int64_t queries = 12, keys = 10, depth = 8, columns = 8;
  std::string scores = "scores";
  std::int64_t axis = -1;

  Heads() = default;
  Heads(std::int64_t queries_, std::int64_t depth_) : queries(queries_), depth(depth_) {}

  Heads& score() {
    model.input("q", {2, 3, queries, depth}).input("k", {2, 3, keys, depth});
    model.input("v", {2, 3, keys, columns});
    model.node("Transpose", {"k"}, {"kt"}, {{"perm", Ints{0, 1, 3, 2}}});
    model.node("MatMul", {"q", "kt"}, {"scores"});
    return *this;
  }
  Heads& scaled() {
    model.scalar("eighth", 0.125f).node("Mul", {scores, "eighth"}, {"scaled"});
    scores = "scaled";
    return *this;
  }
  Heads& masked(const Shape& shape) {
    model.random_weight("mask", shape).node("Add", {scores, "mask"}, {"masked"});
    scores = "masked";
    return *this;
  }
  Heads& mixed() {
    model.node("Softmax", {scores}, {"p"}, {{"axis", axis}});
    model.node("MatMul", {"p", "v"}, {"y"}).output("y");
    return *this;
  }
};

const GraphNode& attention_of(const Graph& graph) {
  for (const GraphNode& node : graph.nodes) {
    if (node.operation == "Attention") return node;
  }
  throw std::out_of_range("no attention");
}

TEST(AttentionJoin, JoinsProductsAndSoftmax) {
  const Graph graph = fused(Heads().score().mixed().model);
  EXPECT_THAT(operations(graph), ElementsAre("Transpose", "Attention"));
  EXPECT_EQ(graph.nodes[1].inputs.size(), 3u);
  EXPECT_EQ(graph.nodes[1].fused_from.size(), 3u);
}

TEST(AttentionJoin, TakesScaleAndMask) {
  for (const Shape& mask : {Shape{12, 10}, {1, 1, 12, 10}, {10}, {2, 1, 1, 10}, {2, 3, 12, 10}}) {
    const Graph graph = fused(Heads().score().scaled().masked(mask).mixed().model);
    ASSERT_THAT(operations(graph), ElementsAre("Transpose", "Attention"));
    EXPECT_EQ(graph.nodes[1].inputs.size(), 4u);
    EXPECT_FLOAT_EQ(attribute_float(graph.nodes[1], "scale", 1), 0.125f);
    EXPECT_EQ(graph.nodes[1].fused_from.size(), 5u);
  }
}

TEST(AttentionJoin, TakesAMaskThatTheModelComputes) {
  Heads heads;
  heads.score().model.input("allowed", {2, 1, 1, 10}).scalar("far", -40);
  heads.model.node("Mul", {"allowed", "far"}, {"bias"});
  heads.model.node("Add", {"bias", "scores"}, {"masked"});
  heads.scores = "masked";
  const Graph graph = fused(heads.mixed().model);
  EXPECT_EQ(attention_of(graph).inputs.size(), 4u);
  EXPECT_THAT(operations(graph), Not(Contains("Softmax")));
}

TEST(AttentionJoin, TakesACausalWhere) {
  Heads heads(10, 8);
  onnx::TensorProto* causal =
      heads.score().model.initializer("causal", {1, 1, 10, 10}, onnx::TensorProto::BOOL);
  for (int i = 0; i < 100; ++i) causal->add_int32_data(i % 10 <= i / 10 ? 1 : 0);
  heads.model.scalar("lowest", -3.4e38f);
  heads.model.node("Where", {"causal", "scores", "lowest"}, {"masked"});
  heads.scores = "masked";
  const Graph graph = fused(heads.mixed().model);
  ASSERT_THAT(operations(graph), ElementsAre("Transpose", "Attention"));
  EXPECT_EQ(graph.nodes[1].inputs.size(), 4u);
}

/// Attributes keys_behind and keys_ahead, or nothing.
std::string band_of(const Shape& shape, const std::function<bool(std::int64_t, std::int64_t)>& seen,
                    float masked = -1e9f) {
  Heads heads;
  heads.queries = shape.end()[-2];
  heads.keys = shape.back();
  std::vector<float> mask;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const std::int64_t row = i / shape.back() % heads.queries;
    mask.push_back(seen(row, i % shape.back()) ? 0 : masked);
  }
  heads.score().model.weight("mask", shape, mask).node("Add", {"scores", "mask"}, {"masked"});
  heads.scores = "masked";
  const Graph graph = fused(heads.mixed().model);
  const GraphNode& node = attention_of(graph);
  if (node.attributes.count("keys_behind") == 0) return "";
  return std::to_string(attribute_int(node, "keys_behind", 0)) + " " +
         std::to_string(attribute_int(node, "keys_ahead", 0));
}

TEST(AttentionJoin, KnowsWhichKeysAConstantMaskLeavesOut) {
  const auto causal = [](std::int64_t q, std::int64_t k) { return k <= q; };
  const auto window = [](std::int64_t q, std::int64_t k) { return k <= q && k > q - 4; };
  EXPECT_EQ(band_of({9, 9}, causal), "8 0");
  EXPECT_EQ(band_of({1, 3, 9, 9}, causal), "8 0");
  EXPECT_EQ(band_of({9, 9}, window), "3 0");
  EXPECT_EQ(band_of({6, 9}, [](std::int64_t q, std::int64_t k) { return k <= q + 3; }), "5 3");
  EXPECT_EQ(band_of({9, 9}, causal, -20), "");  // such scores still count
  EXPECT_EQ(band_of({9, 9}, [](std::int64_t q, std::int64_t k) { return q == 3 || k <= q; }),
            "8 5");
  EXPECT_EQ(band_of({9, 9}, [](std::int64_t, std::int64_t) { return true; }), "");
}

TEST(AttentionJoin, ServesHeadsThatAreNotWholeTexels) {
  EXPECT_THAT(operations(fused(Heads(12, 7).score().mixed().model)), Contains("Attention"));
}

TEST(AttentionJoin, CanBeTurnedOff) {
  EXPECT_THAT(operations(fused(Heads().score().mixed().model, AttentionFusion::none)),
              ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));
}

TEST(AttentionJoin, KeepsWhatIsReadElsewhere) {
  for (const char* also : {"scores", "p"}) {
    Heads heads;
    heads.score().mixed().model.node("Relu", {also}, {"z"}).output("z");
    EXPECT_THAT(operations(fused(heads.model)), Not(Contains("Attention"))) << also;
  }
  Heads returned;
  returned.score().mixed().model.output("p");
  EXPECT_THAT(operations(fused(returned.model)), Not(Contains("Attention")));
}

TEST(AttentionJoin, KeepsASoftmaxOverAnotherAxis) {
  Heads heads;
  heads.axis = 2;
  heads.score().mixed();
  EXPECT_THAT(operations(fused(heads.model)), Not(Contains("Attention")));
}

TEST(AttentionJoin, KeepsProductsWithWeights) {
  ModelBuilder model;
  model.input("x", {12, 8}).random_weight("k", {8, 10}).random_weight("v", {10, 8});
  model.node("MatMul", {"x", "k"}, {"s"})
      .node("Softmax", {"s"}, {"p"}, {{"axis", std::int64_t{-1}}});
  model.node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), ElementsAre("MatMul", "Softmax", "MatMul"));
}

TEST(AttentionJoin, KeepsSharedKeysAndVectors) {
  ModelBuilder model;  // keys and values without the heads of the queries
  model.input("q", {3, 12, 8}).input("k", {8, 10}).input("v", {10, 8});
  model.node("MatMul", {"q", "k"}, {"s"})
      .node("Softmax", {"s"}, {"p"}, {{"axis", std::int64_t{-1}}});
  model.node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_THAT(operations(fused(model)), Not(Contains("Attention")));
}

TEST(AttentionJoin, KeepsFewQueriesWhereCoresRunOneWorkGroup) {
  const ModelBuilder few = Heads(3, 8).score().mixed().model;
  const ModelBuilder many = Heads(4, 8).score().mixed().model;
  EXPECT_THAT(operations(fused(few)), Contains("Attention"));
  EXPECT_THAT(operations(fused(few, AttentionFusion::many_queries)), Not(Contains("Attention")));
  EXPECT_THAT(operations(fused(many, AttentionFusion::many_queries)), Contains("Attention"));
  const auto has_attention = [](const ModelBuilder& model, const std::string& config) {
    const Plan plan = plan_of(model, {}, config);
    return std::any_of(plan.launches.begin(), plan.launches.end(),
                       [](const PlanLaunch& launch) { return launch.operation == "Attention"; });
  };
  EXPECT_TRUE(has_attention(few, "adreno-750"));
  EXPECT_FALSE(has_attention(few, "pocl-host"));
  EXPECT_TRUE(has_attention(many, "pocl-host"));
}

TEST(AttentionJoin, KeepsHeadsTooWideForLocalMemory) {
  EXPECT_THAT(operations(fused(Heads(6, 256).score().mixed().model)), Contains("Attention"));
  EXPECT_THAT(operations(fused(Heads(6, 260).score().mixed().model)), Not(Contains("Attention")));
}

TEST(AttentionJoin, PlansOneLaunchWithoutScores) {
  Heads heads(200, 8);
  heads.keys = 200;
  heads.score().scaled().mixed();
  PlanOptions options;
  options.placement = PlacementPolicy::buffer;
  const Plan joined = plan_of(heads.model, options);
  options.fused_attention = false;
  const Plan apart = plan_of(heads.model, options);
  std::uint64_t macs[2] = {0, 0};
  for (const PlanLaunch& launch : joined.launches) macs[0] += launch.macs;
  for (const PlanLaunch& launch : apart.launches) macs[1] += launch.macs;
  EXPECT_EQ(macs[0], macs[1]);
  const auto largest = [](const Plan& plan) {
    std::int64_t most = 0;
    for (const PlanTensor& tensor : plan.tensors) {
      most = std::max(most, element_count(tensor.shape));
    }
    return most;
  };
  EXPECT_EQ(largest(apart), 6 * 200 * 200);
  EXPECT_EQ(largest(joined), 6 * 200 * 8);
}

}  // namespace
}  // namespace fm
