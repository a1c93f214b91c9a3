// Policy `optimal` on plans: claims within budgets, choices, and what is refused.
#include "planner/overlap/optimal_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/plan_streams.hpp"
#include "kernels/catalogue.hpp"
#include "planner/overlap/weight_placement.hpp"
#include "planner/profile/estimate.hpp"
#include "planner/profile/launch_profiles.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<OverlapPlan> planned(const ModelBuilder& builder, PlacementPolicy placement,
                                 const OverlapRequest& request) {
  const TemporaryFolder folder;
  PlanOptions options;
  options.placement = placement;
  return make_overlap_plans(builder.write(folder), test_config(), options, {}, request);
}

OverlapPlan one(PlacementPolicy placement, const OverlapRequest& request) {
  return planned(stack_model(8, 512), placement, request).at(0);
}

Bytes weights_of(const Plan& plan) {
  Bytes bytes;
  for (const WeightSlice& slice : plan.weights) bytes += slice.bytes;
  return bytes;
}

Bytes peak_of(const Plan& plan) {
  Bytes peak;
  for (const PlanLaunch& launch : plan.launches) peak = std::max(peak, launch.claims.total());
  return peak;
}

/// Nanoseconds from when programs begin to load.
double from_programs(const OverlapPlan& planned) {
  return static_cast<double>((planned.report.program_load + planned.report.predicted).count());
}

class EachPlacement : public testing::TestWithParam<PlacementPolicy> {};

TEST_P(EachPlacement, TheFastestIsNoSlowerThanPreloading) {
  OverlapRequest request;
  const OverlapPlan fastest = one(GetParam(), request);
  // Preloading: read and copied, then all launches bare.
  const DeviceConfig config = test_config();
  const DeviceCosts costs(config);
  const Plan preloaded = plan_of(stack_model(8, 512), {});
  const Nanoseconds reads = costs.read_time(weights_of(preloaded));
  EXPECT_LE(fastest.report.predicted,
            Nanoseconds((reads + fastest.report.compute_floor).count() * 102 / 100) +
                costs.host().enqueue * preloaded.launches.size());
  EXPECT_GE(static_cast<double>(fastest.report.predicted.count()),
            fastest.report.lower_bound * (1 - 1e-9));
  EXPECT_EQ(fastest.report.peak.total(), peak_of(fastest.plan));
  EXPECT_TRUE(fastest.report.estimated);
}

TEST_P(EachPlacement, ClaimsStayWithinEveryBudgetDownToTheLeast) {
  OverlapRequest request;
  const Bytes least = one(GetParam(), request).report.minimum.bytes;
  Nanoseconds before(~std::uint64_t{0});
  for (const std::uint64_t percent : {100, 110, 130, 200, 400}) {
    request.budget = Bytes(least.count() * percent / 100);
    const OverlapPlan result = one(GetParam(), request);
    EXPECT_LE(peak_of(result.plan), *request.budget) << percent;
    EXPECT_LE(result.report.predicted, before) << percent;
    before = result.report.predicted;
    EXPECT_EQ(result.report.minimum.bytes, least);
    EXPECT_NO_THROW(validate(result.plan));
    EXPECT_EQ(result.report.preloaded + result.report.copied + result.report.streamed_inside +
                  result.report.buffers,
              weights_of(result.plan));
  }
  request.budget = least - Bytes(1);
  EXPECT_THAT(user_error_of([&] { one(GetParam(), request); }),
              AllOf(HasSubstr("--budget"), HasSubstr("at least"), HasSubstr("held by launch")));
}

TEST_P(EachPlacement, TheLeastMemoryIsTheLeastBudget) {
  OverlapRequest request;
  request.minimize_memory = true;
  request.slowdown = 100;  // a hundred times as long
  const OverlapPlan result = one(GetParam(), request);
  EXPECT_LE(peak_of(result.plan), result.report.minimum.bytes);
  request.slowdown = 0.05;
  const OverlapPlan faster = one(GetParam(), request);
  request = {};
  const OverlapPlan fastest = one(GetParam(), request);
  EXPECT_GE(peak_of(faster.plan), peak_of(result.plan));
  EXPECT_LE(from_programs(faster), 1.05 * from_programs(fastest) + 1);
  request.minimize_memory = true;
  request.slowdown = 0.05;
  request.programs_count = false;
  const OverlapPlan loaded = one(GetParam(), request);
  EXPECT_LE(static_cast<double>(loaded.report.predicted.count()),
            1.05 * static_cast<double>(fastest.report.predicted.count()) + 1);
}

class ProgramsCount : public testing::Test {
 protected:
  static OverlapPlan plan_with(bool programs_count) {
    OverlapRequest request;
    request.budget = Bytes(30 << 20);
    request.programs_count = programs_count;
    PlanOptions options;
    options.placement = PlacementPolicy::image2d;
    return make_overlap_plans(FM_MODELS "/vit.onnx", test_config("adreno-750"), options, {},
                              request)
        .at(0);
  }
};

/// Kernels that stream are programs of their own.
TEST_F(ProgramsCount, OnlyStreamsThatSaveMoreThanTheirProgramsTake) {
  const OverlapPlan loaded = plan_with(false), loading = plan_with(true);
  EXPECT_GT(loaded.report.streamed_inside, Bytes(0));
  EXPECT_LE(loaded.report.predicted, loading.report.predicted);
  EXPECT_LE(from_programs(loading), from_programs(loaded));
  EXPECT_LT(loading.report.program_load, loaded.report.program_load);
}

TEST_F(ProgramsCount, LaunchesOfOneKernelStreamInOneProgram) {
  const Plan plan = plan_with(false).plan;
  std::map<std::string, std::set<int>> slots;  // by program without streams
  for (PlanLaunch launch : plan.launches) {
    const int here = stream_slots(launch);
    launch.parameters.erase(streams_parameter);
    if (here > 0) slots[program_name(plan, launch)].insert(here);
  }
  EXPECT_FALSE(slots.empty());
  for (const auto& [program, counts] : slots) EXPECT_EQ(counts.size(), 1u) << program;
}

TEST_P(EachPlacement, ManyRunsKeepWeightsForTheNext) {
  OverlapRequest request;
  const OverlapPlan once = one(GetParam(), request);
  request.runs = 1000;
  const OverlapPlan often = one(GetParam(), request);
  EXPECT_LE(often.report.predicted_warm, once.report.predicted_warm);
  // Unbudgeted, about as many as make it as fast as launches alone, but for enqueueing them.
  const DeviceConfig config = test_config();
  const Nanoseconds enqueueing = DeviceCosts(config).host().enqueue * often.plan.launches.size();
  EXPECT_LE(static_cast<double>(often.report.predicted_warm.count()),
            1.01 * static_cast<double>((often.report.compute_floor + enqueueing).count()) + 1);
  // Within a budget, some.
  request.budget = Bytes(often.report.peak.total().count() * 7 / 10);
  const OverlapPlan some = one(GetParam(), request);
  EXPECT_LE(peak_of(some.plan), *request.budget);
  EXPECT_LT(some.report.preloaded, weights_of(some.plan));
}

TEST_P(EachPlacement, OneRunReleasesItsPreloadsAndFillsTheBudgetWithThem) {
  OverlapRequest request;
  const OverlapPlan roomy = one(GetParam(), request);
  request.budget =
      Bytes((roomy.report.minimum.bytes.count() + roomy.report.peak.total().count()) / 2);
  const OverlapPlan tight = one(GetParam(), request);
  request.runs = 100;
  const OverlapPlan often = one(GetParam(), request);
  Bytes released;
  for (const WeightSlice& slice : tight.plan.weights) {
    if (slice.residency == Residency::preload && !stays(slice)) released += slice.bytes;
  }
  EXPECT_GT(released, Bytes(0));
  EXPECT_LE(tight.report.predicted, often.report.predicted);
  EXPECT_GT(tight.report.predicted_warm, tight.report.predicted);
  for (const WeightSlice& slice : often.plan.weights) {
    EXPECT_TRUE(slice.residency != Residency::preload || stays(slice)) << slice.tensor;
  }
}

TEST_P(EachPlacement, TheFrontTradesMemoryForTime) {
  OverlapRequest request;
  request.pareto = 5;
  const std::vector<OverlapPlan> front = planned(stack_model(8, 512), GetParam(), request);
  ASSERT_GE(front.size(), 2u);
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_LT(front[i].report.predicted, front[i - 1].report.predicted);
    EXPECT_LE(peak_of(front[i - 1].plan), peak_of(front.back().plan));
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, EachPlacement,
                         testing::Values(PlacementPolicy::buffer, PlacementPolicy::image2d));

TEST(LcOpg, StreamsWithinCapacitiesAndPreloadsTheRest) {
  const TemporaryFolder folder;
  PlanOptions options;
  options.placement = PlacementPolicy::image2d;
  LcOpgRequest terms;
  OverlapRequest request;
  const auto plan_with = [&] {
    return make_overlap_plans(stack_model(8, 512).write(folder), test_config(), options, {},
                              request, terms)
        .at(0);
  };
  const OverlapPlan planned = plan_with();
  EXPECT_EQ(planned.plan.policy, "lc-opg");
  ASSERT_TRUE(planned.report.lc_opg);
  EXPECT_LE(planned.report.lc_opg->lower_bound, planned.report.lc_opg->objective + 1e-9);
  EXPECT_EQ(planned.report.preloaded + planned.report.streamed_inside + planned.report.copied,
            weights_of(planned.plan));
  // The ring holds what one launch moves while what the next one moves is read.
  std::map<std::string, Bytes> moved;
  for (const WeightSlice& slice : planned.plan.weights) {
    if (slice.residency != Residency::stream) continue;
    ASSERT_FALSE(slice.transforms.empty());
    EXPECT_EQ(slice.earliest_launch, "");
    for (const WeightTransform& part : slice.transforms) {
      moved[part.launch] += std::min(planned.plan.chunk_bytes * part.chunk_count, slice.bytes);
    }
  }
  for (const auto& [launch, bytes] : moved) {
    EXPECT_GE(planned.plan.staging_ring_bytes, 2 * bytes) << launch;
  }
  request.budget = planned.report.peak.total() - Bytes(1);
  EXPECT_THAT(user_error_of([&] { plan_with(); }), HasSubstr("lc-opg, which plans for no budget"));
}

TEST(WeightPlacement, TakesBuffersWhereTheyCostLessThanCopies) {
  PlanOptions options;
  options.placement = PlacementPolicy::automatic;
  PricedPlan images{plan_of(stack_model(4, 256), options), {}};
  options.placement = PlacementPolicy::buffer_weights;
  PricedPlan buffers{plan_of(stack_model(4, 256), options), {}};
  const DeviceConfig config = test_config();
  const DeviceCosts costs(config);
  const CopyCost copy = costs.copy();
  const auto cost = static_cast<std::uint64_t>(static_cast<double>(copy.base.count()) +
                                               copy.nanoseconds_per_byte * 256 * 256 * 2);
  // Launches 1 to 4 are the products; in buffers each takes longer by other shares of a copy.
  for (std::size_t k = 0; k < images.plan.launches.size(); ++k) {
    LaunchProfile profile;
    profile.time = Nanoseconds(100000);
    images.launches.push_back(profile);
    profile.time += Nanoseconds(cost * k * 2 / 5);
    buffers.launches.push_back(profile);
  }
  const PricedPlan chosen = choose_weight_placement(images, buffers, costs);
  std::vector<std::size_t> moved;
  for (std::size_t k = 0; k < images.plan.launches.size(); ++k) {
    if (chosen.launches[k].time != images.launches[k].time) moved.push_back(k);
  }
  EXPECT_THAT(moved, testing::ElementsAre(1, 2));
  std::size_t in_buffers = 0;
  for (const PlanTensor& tensor : chosen.plan.tensors) {
    const bool was = images.plan.tensor(tensor.id).placement == Placement::image2d;
    in_buffers += was && tensor.placement == Placement::buffer;
  }
  EXPECT_EQ(in_buffers, 2u);
}

TEST(LaunchProfiles, ComeFromARunOfTheSamePlan) {
  const DeviceConfig config = test_config();
  const Plan plan = plan_of(stack_model(2, 256), {});
  const TemporaryFolder folder;
  std::string launches;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const PlanLaunch& launch = plan.launches[i];
    launches += (i == 0 ? "" : ",") + std::string("{\"id\":\"") + launch.id + "\",\"kernel\":\"" +
                launch.kernel + "\",\"start_ns\":1000,\"end_ns\":" + std::to_string(1500 + i) + "}";
  }
  const std::string file = folder.file("run.json");
  // Two copies of 10 us beyond their overhead in all, for 4000 bytes.
  const std::uint64_t overhead = to_nanoseconds(config.time("host.launch_overhead")).count();
  const std::string copy =
      "{\"lane\":\"copy\",\"start_ns\":0,\"end_ns\":" + std::to_string(overhead + 5000) + "}";
  write_file(file, "{\"launches\":[" + launches + "],\"timeline\":[" + copy + "," + copy +
                       "],\"counters\":{\"copy.read_bytes\":{\"value\":4000}}}");
  const LaunchProfiles profiles = launch_profiles(plan, config, {file, {}});
  EXPECT_FALSE(profiles.estimated);
  EXPECT_EQ(profiles.source, file);
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    EXPECT_EQ(profiles.launches[i].time, Nanoseconds(500 + i));
  }
  ASSERT_TRUE(profiles.copy_nanoseconds_per_byte);
  EXPECT_NEAR(*profiles.copy_nanoseconds_per_byte, 2.5, 1e-9);
  EXPECT_DOUBLE_EQ(DeviceCosts(config, 2.5).copy().nanoseconds_per_byte, 2.5);
  const Plan other = plan_of(stack_model(3, 256), {});
  EXPECT_THAT(user_error_of([&] {
                launch_profiles(other, config, {file, {}});
              }),
              HasSubstr("is of another plan"));
  write_file(file, "x");
  EXPECT_THAT(user_error_of([&] {
                launch_profiles(plan, config, {file, {}});
              }),
              HasSubstr("is no result"));
  EXPECT_THAT(user_error_of([&] {
                launch_profiles(plan, config, {std::string("/no/file.json"), {}});
              }),
              HasSubstr("cannot be read"));
}

TEST(LaunchProfiles, EstimatesGrowWithWork) {
  const DeviceConfig config = test_config();
  const Plan plan = plan_of(stack_model(2, 256), {});
  PlanLaunch launch = plan.launches[1];
  const Nanoseconds time = estimated_time(plan, launch, config);
  EXPECT_GE(time, to_nanoseconds(config.time("host.launch_overhead")));
  launch.macs *= 1000;
  EXPECT_GT(estimated_time(plan, launch, config), time);
  const SlowdownCurve curve =
      estimated_slowdown(plan, launch, config, estimated_time(plan, launch, config));
  ASSERT_FALSE(curve.empty());
  EXPECT_LE(curve.back().extra.count(),
            estimated_time(plan, launch, config).count() / 5 + 1);  // a product: a fifth
}

TEST(DeviceCosts, ReadsTakeTheDisksTimeOrTheirShareOfTheThreads) {
  const DeviceConfig config = test_config();
  const DeviceCosts costs(config);
  const auto ns = [&](const char* key) {
    return static_cast<double>(config.time(key).count()) * 1e-3;
  };
  // The threads' latencies hide behind the data of large requests.
  const double mib = 1 << 20;
  EXPECT_NEAR(static_cast<double>(costs.read_time(Bytes(9 << 20)).count()), 9 * mib / 2100e6 * 1e9,
              2);
  EXPECT_EQ(costs.part_overhead(Bytes(4 << 20)), Nanoseconds(0));
  // Of a small one, two threads halve them.
  const double page = 4096 / curve_at(config.curve("storage.read_bandwidth"), 4096) * 1e9;
  const double maintained =
      4096 / config.bytes_per_second("host.cache_maintenance_bandwidth") * 1e9;
  const double overhead = ns("host.disk_request_cpu") + ns("storage.command_latency") +
                          2 * (ns("host.map_overhead") + maintained);
  EXPECT_NEAR(static_cast<double>(costs.read_time(Bytes(4096)).count()), (page + overhead) / 2, 2);
  EXPECT_NEAR(static_cast<double>(costs.part_overhead(Bytes(4096)).count()), (overhead - page) / 2,
              2);
  EXPECT_EQ(costs.disk_floor(Bytes(2100)), Nanoseconds(1000));
  EXPECT_EQ(costs.read_time(Bytes(0)), Nanoseconds(0));
}

}  // namespace
}  // namespace fm
