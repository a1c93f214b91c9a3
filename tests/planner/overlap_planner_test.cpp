// Fusion decided together with the schedule, on whole plans.
#include "planner/overlap_planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/make_plan.hpp"
#include "planner/profile/estimate.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

constexpr int layers = 8;

/// Products of 512 x 512 over 48 rows, each with an activation that may be its epilogue.
ModelBuilder activated_stack() {
  ModelBuilder model;
  model.input("x", {48, 512});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    model.random_weight("w" + n, {512, 512});
    model.node("MatMul", {i == 0 ? "x" : "y" + std::to_string(i - 1), "w" + n}, {"p" + n});
    model.node("Relu", {"p" + n}, {"y" + n});
  }
  model.output("y" + std::to_string(layers - 1));
  return model;
}

class Planned {
 public:
  OverlapPlan with(FusionMode fusion, double alpha = 0.1) const {
    PlanOptions options;
    options.placement = PlacementPolicy::image2d;
    options.storage = DataType::f32;
    options.fusion = fusion;
    options.alpha = alpha;
    const TemporaryFolder folder;
    return make_overlap_plans(activated_stack().write(folder), test_config("adreno-750"), options,
                              ProfileFiles{}, request, lc_opg)
        .at(0);
  }
  OverlapRequest request;
  std::optional<LcOpgRequest> lc_opg;
};

std::size_t kernels_in(const Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.launches.begin(), plan.launches.end(),
                    [](const PlanLaunch& launch) { return launch.kind == LaunchKind::kernel; }));
}

std::vector<std::string> nodes_in(const Plan& plan) {
  std::vector<std::string> nodes;
  for (const PlanLaunch& launch : plan.launches) {
    nodes.insert(nodes.end(), launch.nodes.begin(), launch.nodes.end());
  }
  return nodes;
}

TEST(FusionWithLcOpg, SplitsWhatForcesWeightsIntoPreload) {
  Planned planned;
  planned.lc_opg = LcOpgRequest{};
  const OverlapPlan fixed = planned.with(FusionMode::fixed);
  const OverlapPlan adaptive = planned.with(FusionMode::adaptive);
  ASSERT_TRUE(adaptive.report.fusion);
  const FusionReport& fusion = *adaptive.report.fusion;
  EXPECT_THAT(fusion.unfused, Not(IsEmpty()));
  EXPECT_EQ(fusion.offered, static_cast<std::size_t>(layers) - 1) << "the last one's result moves";
  EXPECT_DOUBLE_EQ(fusion.fixed_cost, fixed.report.lc_opg->objective);
  EXPECT_DOUBLE_EQ(fusion.cost, adaptive.report.lc_opg->objective);
  EXPECT_LT(fusion.cost, fusion.fixed_cost);
  EXPECT_LT(adaptive.report.preloaded, fixed.report.preloaded);
  EXPECT_EQ(adaptive.plan.unfused, fusion.unfused);
  EXPECT_EQ(kernels_in(adaptive.plan), kernels_in(fixed.plan) + fusion.unfused.size());
  EXPECT_THAT(nodes_in(adaptive.plan), UnorderedElementsAreArray(nodes_in(fixed.plan)));
  EXPECT_THAT(fixed.plan.unfused, IsEmpty());
  EXPECT_FALSE(fixed.report.fusion);
}

TEST(FusionWithLcOpg, IsTheSameEveryTime) {
  Planned planned;
  planned.lc_opg = LcOpgRequest{};
  EXPECT_EQ(to_yaml(planned.with(FusionMode::adaptive).plan),
            to_yaml(planned.with(FusionMode::adaptive).plan));
}

TEST(FusionWithLcOpg, CopiesCarryTheSameSchedule) {
  Planned planned;
  planned.lc_opg = LcOpgRequest{};
  const OverlapPlan inside = planned.with(FusionMode::adaptive);
  planned.lc_opg->copies = true;
  const OverlapPlan copied = planned.with(FusionMode::adaptive);
  EXPECT_GT(inside.report.streamed_inside, Bytes(0));
  EXPECT_EQ(copied.report.streamed_inside, Bytes(0));
  EXPECT_EQ(copied.report.copied, inside.report.streamed_inside + inside.report.copied);
  EXPECT_EQ(copied.report.lc_opg->objective, inside.report.lc_opg->objective);
}

TEST(FusionWithOptimal, IsNeverSlowerAtNoMoreMemory) {
  Planned planned;
  const OverlapPlan fixed = planned.with(FusionMode::fixed);
  const OverlapPlan adaptive = planned.with(FusionMode::adaptive);
  EXPECT_LE(adaptive.report.predicted, fixed.report.predicted);
  EXPECT_LE(adaptive.report.peak.total(), fixed.report.peak.total());
  ASSERT_TRUE(adaptive.report.fusion);
  EXPECT_TRUE(adaptive.report.fusion->timed);
  EXPECT_FALSE(adaptive.report.budget) << "none was asked for";
}

TEST(FusionNone, KeepsEveryEpilogueApart) {
  PlanOptions options;
  const Plan fused = plan_of(activated_stack(), options);
  options.fusion = FusionMode::none;
  const Plan apart = plan_of(activated_stack(), options);
  EXPECT_EQ(apart.launches.size(), fused.launches.size() + layers);
  EXPECT_EQ(apart.unfused.size(), static_cast<std::size_t>(layers));
  EXPECT_NO_THROW(parse_plan(to_yaml(apart), "apart.yaml"));
}

TEST(FusionNone, LaunchesThatDidNotRunAreEstimatedAsFarOffAsThoseThatDid) {
  const DeviceConfig config = test_config();
  PlanOptions options;
  const Plan fused = plan_of(activated_stack(), options);
  options.fusion = FusionMode::none;
  const Plan apart = plan_of(activated_stack(), options);
  std::string launches;  // each took thrice as long as estimated
  for (const PlanLaunch& launch : fused.launches) {
    launches += (launches.empty() ? "" : ",") + std::string("{\"id\":\"") + launch.id +
                "\",\"kernel\":\"" + launch.kernel + "\",\"start_ns\":0,\"end_ns\":" +
                std::to_string(3 * estimated_time(fused, launch, config).count()) + "}";
  }
  const TemporaryFolder folder;
  const std::string file = folder.file("run.json");
  write_file(file, "{\"launches\":[" + launches + "]}");
  const LaunchProfiles profiles = launch_profiles_from_run(apart, config, {file, {}}, fused);
  ASSERT_EQ(profiles.launches.size(), apart.launches.size());
  EXPECT_EQ(profiles.source, file);
  for (std::size_t k = 0; k < apart.launches.size(); ++k) {
    const auto estimated =
        static_cast<double>(estimated_time(apart, apart.launches[k], config).count());
    EXPECT_NEAR(static_cast<double>(profiles.launches[k].time.count()), 3 * estimated, 1.5) << k;
  }
}

TEST(FusionMode, UnknownWordsAreRefused) {
  EXPECT_THAT(user_error_of([] { fusion_mode_from("adaptiv"); }), testing::HasSubstr("fixed"));
}

}  // namespace
}  // namespace fm
