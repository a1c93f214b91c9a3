// Indices, crops and folded numbers that no exporter should write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "planner/evaluate.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

/// What y = operation(x [2, 3, 4], indices, updates) is refused with.
std::string refusal(const std::string& operation, const Shape& indices, const Shape& updates,
                    const std::map<std::string, TestAttribute>& attributes,
                    const Shape& data = {2, 3, 4}) {
  ModelBuilder model;
  model.input("x", data);
  std::vector<std::string> inputs{"x", "indices"};
  onnx::TensorProto* tensor = model.initializer("indices", indices, onnx::TensorProto::INT64);
  for (std::int64_t i = 0; i < element_count(indices); ++i) tensor->add_int64_data(0);
  if (!updates.empty()) {
    model.random_weight("updates", updates);
    inputs.push_back("updates");
  }
  model.node(operation, inputs, {"y"}, attributes).output("y");
  return user_error_of([&] { plan_of(model); });
}

TEST(BadIndices, ThoseThatDoNotFitTheDataAreRefused) {
  const auto refused = [](const std::string& operation) {
    return AllOf(HasSubstr("m.onnx"), HasSubstr(operation));
  };
  for (const std::int64_t batches : {std::int64_t{-1}, std::int64_t{2}, largest, smallest}) {
    EXPECT_THAT(refusal("GatherND", {2, 2}, {}, {{"batch_dims", batches}}), refused("GatherND"))
        << batches;
  }
  EXPECT_THAT(refusal("GatherND", {0, 2}, {}, {}), refused("GatherND"));
  EXPECT_THAT(refusal("GatherND", {1, 2}, {}, {}, {2, 0, 4}), refused("GatherND"));
  EXPECT_THAT(refusal("GatherND", {2, 4}, {}, {}), refused("GatherND"));
  EXPECT_THAT(refusal("ScatterND", {1, 2}, {1, 4}, {}, {0, 3, 4}), refused("ScatterND"));
  EXPECT_THAT(refusal("ScatterND", {1, 4}, {1}, {}), refused("ScatterND"));
  EXPECT_THAT(refusal("GatherElements", {2, 3}, {}, {}), refused("GatherElements"));
  EXPECT_THAT(refusal("GatherElements", {2, 5, 4}, {}, {}), refused("GatherElements"));
  EXPECT_THAT(refusal("ScatterElements", {2}, {2}, {}), refused("ScatterElements"));
  EXPECT_THAT(refusal("ScatterElements", {2, 1, 1, 1}, {2, 1, 1, 1}, {}),
              refused("ScatterElements"));
  EXPECT_THAT(refusal("ScatterElements", {2, 3, 4}, {2, 3, 5}, {}), refused("ScatterElements"));
  EXPECT_THAT(refusal("ScatterElements", {2, 9, 4}, {2, 9, 4}, {}), refused("ScatterElements"));
}

TEST(BadIndices, AxesOfReverseSequence) {
  const auto said = [](std::int64_t time, std::int64_t batch) {
    return refusal("ReverseSequence", {3}, {}, {{"time_axis", time}, {"batch_axis", batch}});
  };
  EXPECT_THAT(said(5, -4), HasSubstr("ReverseSequence"));
  EXPECT_THAT(said(largest, smallest + 2), HasSubstr("ReverseSequence"));
  EXPECT_THAT(said(-1, 2), HasSubstr("ReverseSequence"));
}

TEST(BadIndices, RegionsThatNoImageHas) {
  for (const float edge : {1e30f, -1e30f, NAN, INFINITY}) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      ModelBuilder model;
      model.input("x", {1, 1, 4, 4}).weight("roi", {8}, {0, 0, 0, edge, 1, 1, 1, edge});
      model.weight("scales", {4}, {1, 1, 1, 2})
          .node("Resize", {"x", "roi", "scales"}, {"y"},
                {{"mode", mode}, {"coordinate_transformation_mode", "tf_crop_and_resize"}});
      model.output("y");
      EXPECT_THAT(user_error_of([&] { plan_of(model); }), HasSubstr("Resize")) << edge << mode;
    }
  }
}

std::int64_t folded(const std::string& operation, std::vector<std::int64_t> values) {
  std::vector<HostTensor> inputs;
  for (const std::int64_t value : values) inputs.push_back(integer_tensor({}, {value}));
  GraphNode node;
  node.operation = operation;
  return evaluate(node, inputs, ElementType::int64, {}).integers.at(0);
}

TEST(FoldedIntegers, WrapAround) {
  EXPECT_EQ(folded("Add", {largest, 1}), smallest);
  EXPECT_EQ(folded("Sub", {smallest, 1}), largest);
  EXPECT_EQ(folded("Mul", {std::int64_t{1} << 62, 4}), 0);
  EXPECT_EQ(folded("Div", {smallest, -1}), smallest);
  EXPECT_EQ(folded("Neg", {smallest}), smallest);
  EXPECT_EQ(folded("Abs", {smallest}), smallest);
  EXPECT_EQ(folded("Abs", {-3}), 3);
}

TEST(FoldedIntegers, OfNumbersThatAreNone) {
  GraphNode cast;
  cast.operation = "Cast";
  const HostTensor reals = real_tensor({5}, {NAN, INFINITY, -1e30f, 2.9f, -2.9f});
  EXPECT_THAT(evaluate(cast, {reals}, ElementType::int64, {5}).integers,
              ElementsAre(smallest, smallest, smallest, 2, -2));
  EXPECT_EQ(folded("Pow", {10, 30}), smallest);
  EXPECT_EQ(folded("Pow", {10, 3}), 1000);
}

TEST(ImpossibleShape, AlsoWhereOneDimensionIsZero) {
  const std::int64_t wide = std::int64_t{1} << 39;
  EXPECT_TRUE(is_possible({0, wide}));
  EXPECT_FALSE(is_possible({0, wide, wide}));
  EXPECT_FALSE(is_possible({wide, wide, 0}));
}

}  // namespace
}  // namespace fm
