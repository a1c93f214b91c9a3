// Plans of the networks under every policy and placement: valid, and with the totals of the
// ONNX graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kernels/catalogue.hpp"
#include "paths.hpp"
#include "planner/passes/passes.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Network {
  std::string name, file;
  std::map<std::string, Shape> shapes;
  std::uint64_t macs;  ///< of tests/reference/onnx_totals.py, which counts them from the ONNX graph
  std::uint64_t packed_bytes;  ///< of the same script: fp16, in texels; 0 where it has no rule
  std::map<std::string, std::size_t> launches;  ///< of the same script
  std::size_t attentions = 0;  ///< of those, two products and a softmax each are one launch
};

const std::vector<Network>& networks() {
  static const std::vector<Network> list = {
      {"vit",
       FM_MODELS "/vit.onnx",
       {},
       17563828224u,
       173528528u,
       {{"Conv", 1}, {"LayerNormalization", 25}, {"MatMul", 60}, {"Softmax", 12}, {"Gemm", 13}},
       12},
      {"resnet50",
       FM_MODELS "/resnet50.onnx",
       {},
       4089184256u,
       51067216u,
       {{"Conv", 53}, {"MaxPool", 1}, {"GlobalAveragePool", 1}, {"Gemm", 1}}},
      {"gpt_neo_small",
       FM_MODELS "/gpt-neo-small.onnx",
       {},
       16114089984u,
       247480832u,
       {{"MatMul", 97 + 9}, {"LayerNormalization", 25}, {"Softmax", 12}},  // the head is 10 slices
       12},
      {"ocr_det",
       FM_TEST_DATA "/ch_PP-OCRv4_det_infer.onnx",
       {{"x", {1, 3, 192, 320}}},
       345385344u,
       0,
       {{"Conv", 62}, {"GlobalAveragePool", 10}, {"Resize", 6}, {"ConvTranspose", 2}}},
      {"ocr_cls",
       FM_TEST_DATA "/ch_ppocr_mobile_v2.0_cls_infer.onnx",
       {{"x", {1, 3, 48, 192}}},
       16315376u,
       261240u,
       {{"Conv", 53}, {"GlobalAveragePool", 10}, {"MaxPool", 1}, {"MatMul", 1}, {"Softmax", 1}}}};
  return list;
}

class NetworkPlan : public ::testing::TestWithParam<std::size_t> {
 protected:
  Plan plan(StreamingPolicy policy, PlacementPolicy placement,
            const std::string& config = "mali-g715") {
    PlanOptions options;
    options.policy = policy;
    options.placement = placement;
    options.bindings.inputs = network().shapes;
    return make_plan(network().file, test_config(config), options);
  }
  const Network& network() const { return networks()[GetParam()]; }
};

std::string network_name(const ::testing::TestParamInfo<std::size_t>& info) {
  return networks()[info.param].name;
}

TEST_P(NetworkPlan, IsValidAndCountsWhatTheGraphCounts) {
  for (auto policy :
       {StreamingPolicy::preload, StreamingPolicy::always_next, StreamingPolicy::same_op_type}) {
    for (auto placement :
         {PlacementPolicy::buffer, PlacementPolicy::image2d, PlacementPolicy::automatic}) {
      const Plan made = plan(policy, placement);
      EXPECT_NO_THROW(validate(made));
      EXPECT_NO_THROW(validate_launches(made));
      std::uint64_t macs = 0, bytes = 0;
      std::map<std::string, std::size_t> launches;
      for (const PlanLaunch& launch : made.launches) {
        macs += launch.macs;
        ++launches[launch.operation];
      }
      for (const WeightSlice& slice : made.weights) bytes += slice.bytes.count();
      EXPECT_EQ(macs, network().macs);
      if (network().packed_bytes != 0) {
        EXPECT_EQ(bytes, network().packed_bytes);
      }
      EXPECT_EQ(launches["Attention"], network().attentions);
      launches["MatMul"] += 2 * launches["Attention"];
      launches["Softmax"] += launches["Attention"];
      for (const auto& [operation, count] : network().launches) {
        // A filter too large for one image is split; only ViT's first convolution is.
        const bool split =
            placement == PlacementPolicy::image2d && network().name == "vit" && operation == "Conv";
        EXPECT_EQ(launches[operation], split ? 3 : count) << operation;
      }
    }
  }
}

TEST_P(NetworkPlan, SurvivesItsTextForm) {
  const Plan made = plan(StreamingPolicy::always_next, PlacementPolicy::image2d);
  const std::string text = to_yaml(made);
  EXPECT_EQ(to_yaml(parse_plan(text, "plan.yaml")), text);
}

TEST_P(NetworkPlan, IsTheSameEveryTime) {
  EXPECT_EQ(to_yaml(plan(StreamingPolicy::same_op_type, PlacementPolicy::automatic)),
            to_yaml(plan(StreamingPolicy::same_op_type, PlacementPolicy::automatic)));
}

TEST_P(NetworkPlan, StreamingHoldsLessThanPreloading) {
  for (auto placement : {PlacementPolicy::buffer, PlacementPolicy::image2d}) {
    const auto peak = [&](StreamingPolicy policy) {
      Bytes largest;
      for (const PlanLaunch& launch : plan(policy, placement).launches) {
        largest = std::max(largest, launch.claims.total());
      }
      return largest;
    };
    const bool large = network().packed_bytes > 10'000'000;
    if (!large) continue;  // the small networks have little to stream
    EXPECT_LT(peak(StreamingPolicy::always_next).count() * 2,
              peak(StreamingPolicy::preload).count());
    EXPECT_LT(peak(StreamingPolicy::same_op_type).count() * 2,
              peak(StreamingPolicy::preload).count());
  }
}

TEST_P(NetworkPlan, ImagesFitTheDevice) {
  for (const char* config : {"mali-g715", "adreno-750"}) {
    const DeviceConfig device = test_config(config);
    const Plan made = plan(StreamingPolicy::preload, PlacementPolicy::image2d, config);
    for (const PlanTensor& tensor : made.tensors) {
      if (tensor.placement != Placement::image2d) continue;
      const GridExtent extent = grid_extent(tensor.layout, tensor.shape);
      EXPECT_LE(extent.width, device.count("limits.image_width")) << tensor.id;
      EXPECT_LE(extent.height, device.count("limits.image_height")) << tensor.id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkPlan, ::testing::Values(0, 1, 2, 3, 4), network_name);

TEST(PlacementRule, AutomaticFollowsTheInstructionSet) {
  const Shape weight = {768, 768}, activation = {197, 768};
  const PlacementRule mali =
      PlacementRule::for_device(PlacementPolicy::automatic, test_config("mali-g715"));
  EXPECT_EQ(mali.of(TensorRole::weight, Layout::rows, weight), Placement::image2d);
  EXPECT_EQ(mali.of(TensorRole::activation, Layout::rows, activation), Placement::buffer);
  const PlacementRule adreno =
      PlacementRule::for_device(PlacementPolicy::automatic, test_config("adreno-750"));
  EXPECT_EQ(adreno.of(TensorRole::weight, Layout::rows, weight), Placement::image2d);
  EXPECT_EQ(adreno.of(TensorRole::activation, Layout::rows, activation), Placement::image2d);
}

TEST(PlacementRule, BiasesLinearAndTooLargeTensorsAreBuffers) {
  const PlacementRule rule(PlacementPolicy::image2d, {64, 64}, true, true);
  EXPECT_EQ(rule.of(TensorRole::weight, Layout::rows, {200}), Placement::buffer);
  EXPECT_EQ(rule.of(TensorRole::input, Layout::linear, {2, 8}), Placement::buffer);
  EXPECT_EQ(rule.of(TensorRole::activation, Layout::rows, {64, 256}), Placement::image2d);
  EXPECT_EQ(rule.of(TensorRole::activation, Layout::rows, {65, 256}), Placement::buffer);
  EXPECT_EQ(rule.of(TensorRole::activation, Layout::rows, {64, 257}), Placement::buffer);
}

TEST(SplitWeights, PartsByOutputChannelOrARefusal) {
  DeviceConfig config = test_config();
  config.set("limits.image_width", "2048");
  config.set("limits.image_height", "2048");
  const TemporaryFolder folder;
  PlanOptions options;
  options.placement = PlacementPolicy::image2d;
  ModelBuilder wide;
  wide.input("x", {3, 8}).random_weight("w", {8, 9001}).random_weight("b", {9001});
  wide.node("Gemm", {"x", "w", "b"}, {"y"}).output("y");
  const Plan plan = make_plan(wide.write(folder), config, options);
  std::vector<std::string> names;
  for (const WeightSlice& slice : plan.weights) names.push_back(plan.tensor(slice.tensor).name);
  EXPECT_THAT(names, ::testing::ElementsAre("w[0:4504]/1", "b[0:4504]/0", "w[4504:9001]/1",
                                            "b[4504:9001]/0"));
  ModelBuilder deep;
  deep.input("x", {3, 2052})
      .random_weight("w", {2052, 8})
      .node("MatMul", {"x", "w"}, {"y"})
      .output("y");
  EXPECT_THAT(
      user_error_of([&] { make_plan(deep.write(folder), config, options); }),
      AllOf(HasSubstr("MatMul:y"), HasSubstr("too large for the device (2048 x 2048 texels)"),
            HasSubstr("--placement buffer")));
  options.placement = PlacementPolicy::automatic;
  EXPECT_EQ(make_plan(deep.write(folder), config, options).weights.size(), 1u);
}

TEST(SplitWeights, StayWholeWhereMemoryIsNoConcernAsFarAsAnImageHoldsThem) {
  ModelBuilder model;
  model.input("x", {6, 1024}).random_weight("w", {1024, 9002});
  model.node("MatMul", {"x", "w"}, {"y"}).output("y");
  const TemporaryFolder folder;
  const std::string path = model.write(folder);
  const auto weights = [&](WeightSlices slices, const std::string& largest_width) {
    DeviceConfig config = test_config();
    config.set("limits.image_width", largest_width);
    PlanOptions options;
    options.slices = slices;
    options.placement = PlacementPolicy::image2d;
    return make_plan(path, config, options).weights.size();
  };
  EXPECT_EQ(weights(WeightSlices::small, "16384"), 3u);
  EXPECT_EQ(weights(WeightSlices::whole, "16384"), 1u);
  EXPECT_EQ(weights(WeightSlices::whole, "2048"), 3u);
}

TEST(SplitWeights, ATiedTableIsOneSetOfSlicesForBothReaders) {
  ModelBuilder model;
  model.input("ids", {1, 6}, onnx::TensorProto::INT64).random_weight("table", {9002, 1024});
  model.node("Gather", {"table", "ids"}, {"x"}).node("Relu", {"x"}, {"h"});
  model.node("Transpose", {"table"}, {"head"}, {{"perm", Ints{1, 0}}});
  model.node("MatMul", {"h", "head"}, {"y"}).output("y");
  const Plan plan = plan_of(model);
  std::vector<std::string> names;
  for (const WeightSlice& slice : plan.weights) {
    EXPECT_LE(slice.bytes, largest_slice);
    names.push_back(plan.tensor(slice.tensor).name);
  }
  EXPECT_THAT(
      names, ::testing::ElementsAre("table[0:3004]/0", "table[3004:6008]/0", "table[6008:9002]/0"));
  ASSERT_EQ(plan.gathers.size(), 1u);
  EXPECT_THAT(plan.gathers[0].table,
              ::testing::ElementsAre(plan.weights[0].tensor, plan.weights[1].tensor,
                                     plan.weights[2].tensor));
  EXPECT_EQ(plan.tensor(plan.gathers[0].tensor).shape, (Shape{1, 6, 1024}));
}

TEST(SplitWeights, ATableThatOnlyItsRowsAreReadOfStaysOnDiskInOnePiece) {
  ModelBuilder model;
  model.input("ids", {6}, onnx::TensorProto::INT64).random_weight("table", {9002, 1024});
  model.node("Gather", {"table", "ids"}, {"x"}).node("Relu", {"x"}, {"y"}).output("y");
  for (auto policy : {StreamingPolicy::preload, StreamingPolicy::always_next}) {
    PlanOptions options;
    options.policy = policy;
    const Plan plan = plan_of(model, options);
    ASSERT_EQ(plan.weights.size(), 1u);
    EXPECT_EQ(plan.weights[0].residency, Residency::disk);
    for (const PlanLaunch& launch : plan.launches) {
      EXPECT_EQ(launch.claims.preloaded, Bytes(0));
      EXPECT_LE(launch.claims.um_in_flight, Bytes(6 * 1024 * 2));
    }
  }
}

}  // namespace
}  // namespace fm
