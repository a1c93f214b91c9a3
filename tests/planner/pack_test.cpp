// Packed weights: bytes as an independent computation lays them out, and refusals.
#include "planner/pack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/weights_file.hpp"
#include "paths.hpp"
#include "planner/seeded_weights.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Pack : public ::testing::Test {
 protected:
  Plan pack(const ModelBuilder& builder, const PlanOptions& options,
            const DeviceConfig& config = test_config()) {
    model_ = builder.write(folder_);
    const Plan plan = make_plan(model_, config, options);
    pack_weights(plan, {model_}, folder_.file("w.fmw"));
    return plan;
  }
  /// Contents of the packed weight called `name`, row-major.
  std::vector<float> unpacked(const Plan& plan, const std::string& name) {
    const WeightsIndex index = open_weights_for(plan, folder_.file("w.fmw"));
    const std::string file = contents_of(folder_.file("w.fmw"));
    for (const WeightsIndexEntry& entry : index.entries) {
      if (entry.name != name) continue;
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data()) + entry.offset.count();
      return unpack(entry.layout, entry.dtype, entry.shape, bytes);
    }
    throw std::out_of_range(name);
  }
  static const float* raw(const ModelBuilder& builder, const std::string& name) {
    for (const auto& tensor : const_cast<ModelBuilder&>(builder).proto().graph().initializer()) {
      if (tensor.name() == name) return reinterpret_cast<const float*>(tensor.raw_data().data());
    }
    throw std::out_of_range(name);
  }
  static PlanOptions floats() {
    PlanOptions options;
    options.storage = DataType::f32;
    return options;
  }
  TemporaryFolder folder_;
  std::string model_;
};

TEST_F(Pack, TransposesGemmWeights) {
  ModelBuilder model;
  model.input("x", {3, 5}).random_weight("w", {7, 5}).random_weight("b", {7});
  model.node("Gemm", {"x", "w", "b"}, {"y"}, {{"transB", std::int64_t{1}}, {"beta", 2.0f}})
      .output("y");
  const Plan plan = pack(model, floats());
  const std::vector<float> values = unpacked(plan, "w.permuted");
  for (std::size_t k = 0; k < 5; ++k) {
    for (std::size_t n = 0; n < 7; ++n) EXPECT_EQ(values[k * 7 + n], raw(model, "w")[n * 5 + k]);
  }
  for (std::size_t n = 0; n < 7; ++n)
    EXPECT_EQ(unpacked(plan, "b.scaled")[n], 2 * raw(model, "b")[n]);
}

TEST_F(Pack, FiniteValuesBeyondHalfPrecisionStayFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  ModelBuilder model;
  model.input("x", {2, 6});
  model.weight("mask", {6}, {-3.4028235e38f, 1e5f, 65519, infinity, -infinity, 2});
  model.node("Mul", {"x", "mask"}, {"y"}).output("y");
  EXPECT_THAT(unpacked(pack(model, {}), "mask"),
              ::testing::ElementsAre(-65504, 65504, 65504, infinity, -infinity, 2));
}

TEST_F(Pack, FoldsBatchNormAndAffineConstants) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 5}).random_weight("w", {6, 4, 3, 3}).weight("s", {1}, {3.0f});
  for (const char* name : {"g", "h", "m"}) model.random_weight(name, {6});
  model.random_weight("v", {6}, 0.5f, 1);
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("BatchNormalization", {"c", "g", "h", "m", "v"}, {"n"}, {{"epsilon", 0.01f}});
  model.node("Mul", {"n", "s"}, {"y"}).output("y");
  const Plan plan = pack(model, floats());
  ASSERT_EQ(plan.weights.size(), 2u);
  const auto filter = unpacked(plan, plan.tensor(plan.weights[0].tensor).name);
  const auto bias = unpacked(plan, plan.tensor(plan.weights[1].tensor).name);
  for (std::size_t o = 0; o < 6; ++o) {
    const double scale = raw(model, "g")[o] / std::sqrt(raw(model, "v")[o] + 0.01) * 3;
    for (std::size_t i = 0; i < 36; ++i) {
      EXPECT_NEAR(filter[o * 36 + i], raw(model, "w")[o * 36 + i] * scale, 1e-5);
    }
    EXPECT_NEAR(bias[o], 3 * raw(model, "h")[o] - raw(model, "m")[o] * scale, 1e-5);
  }
}

TEST_F(Pack, HalvesRoundToNearest) {
  ModelBuilder model;
  model.input("x", {2, 3}).random_weight("w", {3, 6}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  const Plan plan = pack(model, {});
  const auto values = unpacked(plan, "w");
  for (std::size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(values[i], float_from_half(half_from_float(raw(model, "w")[i])));
    EXPECT_NEAR(values[i], raw(model, "w")[i], std::fabs(raw(model, "w")[i]) / 2048 + 1e-7);
  }
}

TEST_F(Pack, PartsOfASplitWeight) {
  DeviceConfig config = test_config();
  config.set("limits.image_width", "2048");
  ModelBuilder model;
  model.input("x", {3, 5})
      .random_weight("w", {5, 9001})
      .node("MatMul", {"x", "w"}, {"y"})
      .output("y");
  PlanOptions options = floats();
  options.placement = PlacementPolicy::image2d;
  const Plan plan = pack(model, options, config);
  const auto first = unpacked(plan, "w[0:4504]/1"), second = unpacked(plan, "w[4504:9001]/1");
  ASSERT_EQ(first.size() + second.size(), 5u * 9001);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(first[k * 4504 + 17], raw(model, "w")[k * 9001 + 17]);
    EXPECT_EQ(second[k * 4497 + 4496], raw(model, "w")[k * 9001 + 9000]);
  }
}

TEST_F(Pack, HalfPrecisionModelsAndIndices) {
  ModelBuilder model;
  model.input("x", {4, 2, 8}).integers("i", {3, 0, -1});
  std::vector<std::uint16_t> halves;
  for (int i = 0; i < 16; ++i) halves.push_back(half_from_float(static_cast<float>(i) / 3));
  model.initializer("h", {2, 8}, onnx::TensorProto::FLOAT16)->set_raw_data(halves.data(), 32);
  model.node("Cast", {"h"}, {"f"}, {{"to", std::int64_t{1}}}).node("Add", {"x", "f"}, {"a"});
  model.node("Gather", {"a", "i"}, {"y"}).output("y");
  const Plan plan = pack(model, {});
  const auto values = unpacked(plan, "f");
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(values[i], float_from_half(halves[i]));
  const std::string file = contents_of(folder_.file("w.fmw"));
  for (const WeightSlice& slice : plan.weights) {
    if (plan.tensor(slice.tensor).dtype != DataType::i32) continue;
    std::int32_t indices[3];
    std::memcpy(indices, file.data() + slice.file_offset.count(), sizeof(indices));
    EXPECT_THAT(indices, ::testing::ElementsAre(3, 0, 3));
  }
}

TEST_F(Pack, RefusesAnotherModelAndEditedWeights) {
  ModelBuilder model = stack_model(2, 8);
  Plan plan = pack(model, {});
  const std::string other = stack_model(2, 16).write(folder_, "other.onnx");
  const std::string same_shapes = [&] {
    ModelBuilder changed = stack_model(2, 8);
    changed.proto().set_producer_name("changed");
    return changed.write(folder_, "changed.onnx");
  }();
  const std::string output = folder_.file("none.fmw");
  EXPECT_NE(user_error_of([&] { pack_weights(plan, {other}, output); }), "");
  EXPECT_THAT(user_error_of([&] { pack_weights(plan, {same_shapes}, output); }),
              AllOf(HasSubstr("changed.onnx"), HasSubstr("not the model of the plan")));
  Plan edited = plan;
  edited.tensors[2].name = "other";
  EXPECT_THAT(user_error_of([&] { pack_weights(edited, {model_}, output); }),
              HasSubstr("weights_index_digest"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(Pack, RefusesSkeletons) {
  const Plan plan = make_plan(FM_MODELS "/resnet50.onnx", test_config(), {});
  const std::string output = folder_.file("none.fmw");
  EXPECT_THAT(user_error_of([&] { pack_weights(plan, {FM_MODELS "/resnet50.onnx"}, output); }),
              AllOf(HasSubstr("skeleton"), HasSubstr("fmplan fill")));
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(Pack, FilledAndSkeletonGiveTheSamePlan) {
  const std::string filled = folder_.file("resnet50.onnx");
  fill_skeleton(FM_MODELS "/resnet50.onnx", 1, filled);
  Plan a = make_plan(FM_MODELS "/resnet50.onnx", test_config(), {});
  const Plan b = make_plan(filled, test_config(), {});
  EXPECT_NE(a.models[0].digest, b.models[0].digest);
  a.models[0].digest = b.models[0].digest;
  a.weights_index_digest = b.weights_index_digest;
  EXPECT_EQ(to_yaml(a), to_yaml(b));
}

}  // namespace
}  // namespace fm
