// Slowdown curves, the profile file, what is learnt from it, and the plan that is profiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/diagnostics.hpp"
#include "core/plan_streams.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/launch_builders.hpp"
#include "planner/profile/convex_fit.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/held_out.hpp"
#include "planner/profile/launch_profiles.hpp"
#include "planner/profile/launch_signature.hpp"
#include "planner/profile/profile_plan.hpp"
#include "planner/profile/sampled_launches.hpp"
#include "planner/profile/slowdown_model.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SlowdownPoint point(std::uint64_t bytes, std::uint64_t nanoseconds) {
  return {Bytes(bytes), Nanoseconds(nanoseconds)};
}

TEST(Slowdown, IsReadOffTheCurve) {
  const SlowdownCurve curve{point(100, 10), point(200, 40), point(400, 200)};
  EXPECT_EQ(extra_time(curve, Bytes(0)), Nanoseconds(0));
  EXPECT_EQ(extra_time(curve, Bytes(50)), Nanoseconds(5));
  EXPECT_EQ(extra_time(curve, Bytes(200)), Nanoseconds(40));
  EXPECT_EQ(extra_time(curve, Bytes(300)), Nanoseconds(120));
  EXPECT_EQ(extra_time(curve, Bytes(500)), Nanoseconds(280)) << "on along the last line";
  EXPECT_EQ(extra_time({}, Bytes(500)), Nanoseconds(0));
}

TEST(Slowdown, CapacityIsWhereTheClassAllowsNoMore) {
  const SlowdownCurve curve{point(100, 10), point(200, 40), point(400, 200)};
  EXPECT_EQ(load_capacity({OperatorClass::reusable, Nanoseconds(200), curve}), Bytes(200));
  EXPECT_EQ(load_capacity({OperatorClass::reusable, Nanoseconds(25), curve}), Bytes(50));
  EXPECT_EQ(load_capacity({OperatorClass::elemental, Nanoseconds(40), curve}), Bytes(300));
  EXPECT_EQ(load_capacity({OperatorClass::elemental, Nanoseconds(60), curve}), Bytes(375));
  EXPECT_EQ(load_capacity({OperatorClass::hierarchical, Nanoseconds(80), {}}), Bytes(0));
  // No more is promised than was measured.
  EXPECT_EQ(load_capacity({OperatorClass::elemental, Nanoseconds(80), curve}), Bytes(400));
  EXPECT_EQ(load_capacity({OperatorClass::reusable, Nanoseconds(80), {point(64, 0)}}), Bytes(64));
}

TEST(Slowdown, AMarginIsKeptBelowTheThreshold) {
  LaunchProfile profile{OperatorClass::reusable, Nanoseconds(2000), {point(1000, 400)}};
  EXPECT_EQ(load_capacity(profile), Bytes(1000));
  profile.margin = 0.05;  // 1.2 / 1.05 of the bare time: 285.7 ns more
  EXPECT_EQ(load_capacity(profile), Bytes(714));
  profile.margin = 0.2;
  EXPECT_EQ(load_capacity(profile), Bytes(0)) << "the margin takes the threshold whole";
  profile.margin = 0.3;
  EXPECT_EQ(load_capacity(profile), Bytes(0));
}

TEST(CapacityMargin, IsTheNinthDecileOfWhatWasPredictedTooLow) {
  std::vector<HeldOutPrediction> predictions;
  EXPECT_EQ(class_margins(predictions).reusable, 0);
  for (int i = 0; i < 10; ++i) {
    predictions.push_back({OperatorClass::reusable, 1, 1 + 0.01 * (i - 5)});
  }
  for (int i = 0; i < 5; ++i) predictions.push_back({OperatorClass::reusable, 2, 1});
  // 15 in order: eleven at most 0, then 0.01 to 0.04; the 14th is the last but one.
  EXPECT_NEAR(class_margins(predictions).reusable, 0.03, 1e-6);
  EXPECT_EQ(class_margins(predictions).elemental, class_margins(predictions).reusable)
      << "a class that was not seen";
  EXPECT_EQ(class_margins(predictions).of(OperatorClass::hierarchical), 0);
  predictions.push_back({OperatorClass::elemental, 2, 3});
  EXPECT_NEAR(class_margins(predictions).elemental, 0.5, 1e-6);
  EXPECT_NEAR(class_margins(predictions).reusable, 0.03, 1e-6);
}

TEST(Slowdown, TheBestGuessGoesThroughThePoints) {
  LaunchProfile profile;
  profile.time = Nanoseconds(1000);
  profile.slowdown = {point(100, 50)};
  EXPECT_EQ(slowed_time(profile, Bytes(200)), Nanoseconds(1100)) << "no points: by the curve";
  profile.points = {{Bytes(100), Nanoseconds(900)},
                    {Bytes(200), Nanoseconds(1100)},
                    {Bytes(400), Nanoseconds(1200)}};
  EXPECT_EQ(slowed_time(profile, Bytes(0)), Nanoseconds(1000));
  EXPECT_EQ(slowed_time(profile, Bytes(50)), Nanoseconds(900)) << "below the bare time: level";
  EXPECT_EQ(slowed_time(profile, Bytes(150)), Nanoseconds(1000));
  EXPECT_EQ(slowed_time(profile, Bytes(300)), Nanoseconds(1150)) << "concave as it is";
  EXPECT_EQ(slowed_time(profile, Bytes(600)), Nanoseconds(1300)) << "on along the last line";
  profile.points[0].time = Nanoseconds(1080);
  EXPECT_EQ(slowed_time(profile, Bytes(50)), Nanoseconds(1040));
  const auto extra = slowdown_points({{Bytes(7), Nanoseconds(900)}, {Bytes(8), Nanoseconds(1010)}},
                                     Nanoseconds(1000));
  EXPECT_EQ(extra[0].extra, Nanoseconds(0)) << "plans are made with no gain";
  EXPECT_EQ(extra[1].extra, Nanoseconds(10));
}

TEST(Slowdown, EveryKernelThatStreamsHasAClassThatMay) {
  for (const KernelEntry& entry : kernel_catalogue()) {
    if (entry.operations == std::vector<std::string>{"Microbenchmark"}) continue;
    try {
      EXPECT_EQ(entry.streams, operator_class(entry.name) != OperatorClass::hierarchical)
          << entry.name;
    } catch (const std::out_of_range&) {
      EXPECT_FALSE(entry.streams) << entry.name;
    }
  }
}

TEST(ConvexFit, KeepsConvexPointsAndLevelsOthers) {
  const SlowdownCurve kept = convex_fit({point(300, 90), point(100, 10), point(200, 30)});
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].extra, Nanoseconds(10));
  EXPECT_EQ(kept[2].extra, Nanoseconds(90));
  // Slopes 0.4 and 0.1 are pooled to 0.25.
  const SlowdownCurve level = convex_fit({point(100, 40), point(200, 50)});
  EXPECT_EQ(level[0].extra, Nanoseconds(25));
  EXPECT_EQ(level[1].extra, Nanoseconds(50));
  EXPECT_EQ(convex_fit({point(100, 10), point(100, 30)})[0].extra, Nanoseconds(20));
  EXPECT_TRUE(convex_fit({}).empty());
}

TEST(ConvexFit, AnyPointsGiveAConvexCurve) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<SlowdownPoint> points;
    for (std::uint64_t i = 0; i < 1 + random() % 7; ++i) {
      points.push_back(point(1 + random() % 1'000'000, random() % 1'000'000'000));
    }
    double slope = 0, bytes = 0, time = 0, run_before = 1;
    for (const SlowdownPoint& knee : convex_fit(points)) {
      const double run = static_cast<double>(knee.streamed.count()) - bytes;
      const double next = (static_cast<double>(knee.extra.count()) - time) / run;
      EXPECT_GE(next, slope - 1 / run - 1 / run_before) << "but for rounding to nanoseconds";
      slope = next;
      run_before = run;
      bytes = static_cast<double>(knee.streamed.count());
      time = static_cast<double>(knee.extra.count());
    }
  }
}

/// Launches of a made-up device: time of work, and streams that take bandwidth left over.
struct MadeUp {
  Plan plan;
  DeviceProfile profile;

  /// `speed`: of another such device, in everything.
  explicit MadeUp(double speed = 1, const std::string& name = "made-up") : speed_(speed) {
    plan.tensors.reserve(200);
    profile.device = name;
    profile.measured_by = "test";
    profile.rates = device_rates(test_config());
    for (double* rate : rates_of(&profile.rates)) *rate *= speed;
    profile.rates.latency /= speed;
    profile.rates.near_latency /= speed;
    profile.rates.launch_overhead = 2000 / speed;
    for (std::int64_t rows = 16; rows <= 512; rows *= 2) {
      for (std::int64_t depth : {64, 128, 192, 256, 384}) add(rows, depth);
    }
  }

  const PlanTensor& tensor(const Shape& shape) {
    PlanTensor made;
    made.id = made.name = "t" + std::to_string(plan.tensors.size());
    made.shape = shape;
    made.layout = Layout::rows;
    made.placement = Placement::image2d;
    made.bytes = storage_bytes(made.layout, made.dtype, shape);
    plan.tensors.push_back(made);
    return plan.tensors.back();
  }

  void add(std::int64_t rows, std::int64_t depth) {
    MatmulOperands operands{};
    operands.a = &tensor({rows, depth});
    operands.b = &tensor({depth, 64});
    operands.c = &tensor({rows, 64});
    PlanLaunch launch = build_matmul(operands);
    launch.id = "L" + std::to_string(plan.launches.size());
    plan.launches.push_back(launch);
    const double time = (2000 + static_cast<double>(launch.macs) / 50) / speed_;
    ProfileEntry entry;
    entry.kernel = launch.kernel;
    entry.time = Nanoseconds(static_cast<std::uint64_t>(time));
    for (const double share : {0.5, 1.0, 1.5, 2.0}) {
      const double bytes = 8 * time * speed_ * share;
      const double late = std::max(0.0, bytes - 8 * time * speed_);
      const double slowed = time + (bytes / 100 + late / 20) / speed_;
      entry.points.push_back({Bytes(static_cast<std::uint64_t>(bytes)),
                              Nanoseconds(static_cast<std::uint64_t>(slowed))});
    }
    entry.numbers = launch_numbers(plan, launch);
    profile.entries[launch_signature(plan, launch)] = entry;
  }

 private:
  static std::vector<double*> rates_of(DeviceRates* rates) {
    return {&rates->clock,    &rates->fma,      &rates->special,   &rates->convert,
            &rates->integer,  &rates->issue,    &rates->texels,    &rates->lanes,
            &rates->l1_bytes, &rates->l2_bytes, &rates->slc_bytes, &rates->dram_bytes};
  }
  double speed_;
};

TEST(SlowdownModel, LearnsWhatItWasNotShown) {
  const MadeUp made;
  const ModelErrors errors = held_out({&made.profile}, HeldOutGroup::shape, 5);
  EXPECT_EQ(errors.slowed.predictions, made.profile.entries.size() * 4);
  EXPECT_LT(errors.slowed.mean, 0.02);
  EXPECT_EQ(errors.bare.predictions, made.profile.entries.size());
  EXPECT_EQ(errors.slowed_and_bare.predictions, errors.slowed.predictions);
  EXPECT_LT(errors.bare.mean, 0.35);
  // The knee at the second point is missed by 0.1 of the bare time when it is left out; the other
  // two points lie on the lines between their neighbours.
  EXPECT_NEAR(errors_of(held_out_points(made.profile)).mean, 0.1 / 1.08 / 3, 1e-3);
}

TEST(SlowdownModel, IsTheSameEveryTimeAndConvex) {
  const MadeUp made;
  const std::vector<LearntLaunch> launches = launches_of(made.profile);
  const SlowdownModel once(launches), again(launches);
  const LaunchFacts facts = launches[7].facts();
  EXPECT_EQ(once.time(facts), again.time(facts));
  const auto curve_of = [&](const SlowdownModel& model) {
    const auto points = model.points(facts, Nanoseconds(40000), Bytes(600000));
    return convex_fit(slowdown_points(points, Nanoseconds(40000)));
  };
  const SlowdownCurve curve = curve_of(once), same = curve_of(again);
  ASSERT_EQ(curve.size(), same.size());
  Nanoseconds last;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(curve[i].extra, same[i].extra);
    EXPECT_GE(curve[i].extra, last);
    last = curve[i].extra;
  }
}

TEST(HeldOut, MarginsComeFromWhatTheErrorsComeFrom) {
  MadeUp made;
  hold_out(&made.profile, {}, 5);
  EXPECT_EQ(made.profile.held_out.front().what, "slowdown, amounts held out");
  // The left-out knee is predicted 0.1 of the bare time too high, and nothing too low.
  EXPECT_LT(made.profile.margins.measured.reusable, 1e-3);
  const ModelErrors errors = held_out({&made.profile}, HeldOutGroup::shape, 5);
  EXPECT_EQ(made.profile.margins.bare_known.reusable, errors.slowed_margins.reusable);
  EXPECT_EQ(made.profile.margins.learnt.reusable, errors.slowed_and_bare_margins.reusable);
  EXPECT_GT(made.profile.margins.learnt.reusable, made.profile.margins.bare_known.reusable);
}

TEST(DeviceProfile, ReadsBackWhatItWrites) {
  MadeUp made;
  made.profile.margins = {{0.125, 0.25}, {0.5, 1}, {2, 0.0625}};
  const DeviceProfile read = parse_profile(to_yaml(made.profile), "p.yaml");
  EXPECT_EQ(read.device, "made-up");
  EXPECT_EQ(to_yaml(read), to_yaml(made.profile));
  EXPECT_EQ(read.margins.measured.reusable, 0.25);
  EXPECT_EQ(read.margins.learnt.elemental, 2);
  ASSERT_EQ(read.entries.size(), made.profile.entries.size());
  EXPECT_EQ(read.rates.isa, made.profile.rates.isa);
  for (const LaunchNumberName& name : launch_number_names()) {
    EXPECT_EQ(read.entries.begin()->second.numbers.*name.number,
              made.profile.entries.begin()->second.numbers.*name.number)
        << name.name;
  }
}

TEST(DeviceProfile, GivesMeasuredLaunchesAndLearnsTheRest) {
  MadeUp made;
  const PlanLaunch& known = made.plan.launches[3];
  const ProfileEntry entry = made.profile.entries.at(launch_signature(made.plan, known));
  made.profile.entries.erase(launch_signature(made.plan, made.plan.launches[12]));
  PlanLaunch copy;
  copy.kind = LaunchKind::copy;
  made.plan.launches.push_back(copy);
  PlanLaunch streaming = known;
  streaming.parameters[streams_parameter] = "2";
  made.plan.launches.push_back(streaming);
  made.profile.margins.measured.reusable = 0.01;
  made.profile.margins.learnt.reusable = 0.03;
  const std::vector<LaunchProfile> profiles = launch_profiles(made.plan, made.profile);
  ASSERT_EQ(profiles.size(), made.plan.launches.size());
  EXPECT_EQ(profiles[3].margin, 0.01);
  EXPECT_EQ(profiles[12].margin, 0.03);
  EXPECT_EQ(profiles[3].time, entry.time);
  EXPECT_EQ(profiles[3].slowdown.size(), entry.points.size());
  EXPECT_GT(profiles[12].time, Nanoseconds(0));
  EXPECT_GT(load_capacity(profiles[12]), Bytes(0));
  EXPECT_EQ(profiles[profiles.size() - 2].time, Nanoseconds(0)) << "a copy";
  EXPECT_EQ(profiles.back().time, entry.time) << "a launch that streams is the same launch";
}

TEST(DeviceProfile, RefusesTooLittleToLearnFrom) {
  MadeUp made;
  made.profile.entries.clear();
  EXPECT_THAT([&] { launch_profiles(made.plan, made.profile); },
              ThrowsMessage<UserError>(HasSubstr("at least 4 are needed")));
}

TEST(DeviceProfile, LearnsFromOtherDevices) {
  const MadeUp slow(1, "slow"), slower(0.5, "slower");
  MadeUp fast(2, "fast");
  const DeviceProfile known = fast.profile;
  fast.profile.entries.clear();
  const std::vector<LaunchProfile> profiles =
      launch_profiles(fast.plan, fast.profile, {slow.profile, slower.profile});
  ASSERT_EQ(profiles.size(), fast.plan.launches.size());
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const ProfileEntry& real = known.entries.at(launch_signature(fast.plan, fast.plan.launches[i]));
    const auto time = static_cast<double>(real.time.count());
    EXPECT_NEAR(static_cast<double>(profiles[i].time.count()) / time, 1, 0.2);
  }
  const ModelErrors errors =
      held_out({&known, &slow.profile, &slower.profile}, HeldOutGroup::profile, 5);
  EXPECT_EQ(errors.bare.predictions, known.entries.size()) << "those of the first alone";
  EXPECT_LT(errors.slowed.mean, 0.02);
  EXPECT_LT(errors.bare.mean, 0.1);
}

TEST(DeviceProfile, AFileOfAnotherDeviceOrOfNoneIsRefused) {
  const TemporaryFolder folder;
  const MadeUp made;
  const DeviceConfig config = test_config("mali-g715");
  const std::string file = folder.file("p.yaml");
  const auto refused = [&](const std::string& text, const std::string& words) {
    write_file(file, text);
    EXPECT_THAT(
        [&] {
          launch_profiles(made.plan, config, ProfileFiles{file, {}});
        },
        ThrowsMessage<UserError>(HasSubstr(words)));
  };
  const std::string whole = to_yaml(made.profile);
  refused(whole, "is of device 'made-up', not of 'mali-g715'");
  refused("", "p.yaml");
  refused("config: mali-g715\n", "profile");
  refused(std::string("\0\1\2", 3), "p.yaml");
  for (const double share : {0.2, 0.5, 0.9}) {
    refused(whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))),
            "p.yaml");
  }
  EXPECT_THAT(
      [&] {
        launch_profiles(made.plan, config, ProfileFiles{folder.file("result.json"), {file}});
      },
      ThrowsMessage<UserError>(HasSubstr("result.json: cannot be read")));
  EXPECT_THAT(
      [&] {
        launch_profiles(made.plan, config, ProfileFiles{folder.file("no"), {}});
      },
      ThrowsMessage<UserError>(HasSubstr("no")));
}

TEST(DeviceProfile, SlowdownsAreLearntAroundTheTimesOfARun) {
  MadeUp made;
  const DeviceConfig config = test_config("mali-g715");
  const TemporaryFolder folder;
  std::string launches;
  for (const PlanLaunch& launch : made.plan.launches) {
    launches += (launches.empty() ? "" : ",") + std::string("{\"id\":\"") + launch.id +
                "\",\"kernel\":\"matmul\",\"start_ns\":5,\"end_ns\":100005}";
  }
  write_file(folder.file("run.json"), "{\"launches\":[" + launches + "]}");
  const auto profiles_of = [&] {
    write_file(folder.file("p.yaml"), to_yaml(made.profile));
    return launch_profiles(made.plan, config,
                           ProfileFiles{folder.file("run.json"), {folder.file("p.yaml")}});
  };
  made.profile.margins.bare_known.reusable = 0.125;
  const LaunchProfiles of_another = profiles_of();
  EXPECT_FALSE(of_another.by_signature);
  EXPECT_THAT(of_another.source, HasSubstr("run.json, slowdowns learnt from "));
  for (const LaunchProfile& profile : of_another.launches) {
    EXPECT_EQ(profile.time, Nanoseconds(100000));
    EXPECT_EQ(profile.margin, 0.125);
    EXPECT_FALSE(profile.points.empty());
    if (profile.slowdown.empty()) continue;  // nothing fits the margin
    EXPECT_LE(static_cast<double>(profile.slowdown.back().extra.count()),
              (1.2 / 1.125 - 1) * 100000 + 1);
  }
  // The same profile, of the device itself.
  made.profile.device = config.name();
  const LaunchProfiles own = profiles_of();
  ASSERT_EQ(own.launches.size(), of_another.launches.size());
  EXPECT_EQ(own.launches[3].margin, 0.125);
}

TEST(DeviceProfile, NamesThePlaceOfWhatIsWrong) {
  const MadeUp made;
  const std::string whole = to_yaml(made.profile);
  const auto refused = [&](const std::string& was, const std::string& is,
                           const std::string& words) {
    std::string text = whole;
    const std::size_t at = text.find(was);
    ASSERT_NE(at, std::string::npos) << was;
    text.replace(at, was.size(), is);
    EXPECT_THAT([&] { parse_profile(text, "p.yaml"); },
                ThrowsMessage<UserError>(testing::AllOf(HasSubstr("p.yaml:"), HasSubstr(words))));
  };
  refused("class: reusable", "class: fast", "unknown class 'fast'");
  refused("kernel: matmul\n", "kernel: softmax\n", "softmax is hierarchical");
  refused("kernel: matmul\n", "kernel: matmull\n", "no kernel 'matmull'");
  refused("numbers: [", "numbers: [1, ", "profile anew");
  refused("numbers: [", "numbers: [-", "is below 0");
  refused("profile: 3", "profile: 2", "format version must be 3: profile anew");
  refused("measured: {elemental: 0", "measured: {elemental: -1", "is below 0");
  refused("  learnt: {", "  learned: {", "learnt");
  refused("isa: valhall", "isa: vahlall", "valhall");
  refused("  cores:", "  kores:", "cores");
  refused("time_ns: ", "time_ns: -", "time_ns");
}

TEST(LaunchNumbers, CountWhatTheKernelsDo) {
  const MadeUp made;
  const PlanLaunch& launch = made.plan.launches[0];  // 16 x 64 times 64 x 64, tiles of 4 x 2 texels
  const LaunchNumbers n = launch_numbers(made.plan, launch);
  EXPECT_EQ(n.tile, 4);
  EXPECT_EQ(n.tile4, 2);
  EXPECT_EQ(n.items, 8 * 4);
  EXPECT_EQ(n.macs, 16 * 64 * 64);
  EXPECT_EQ(n.iterations, 16) << "four of 64 multiplied in each";
  EXPECT_EQ(n.loads, n.items * 16 * (4 + 4 * 2));
  EXPECT_EQ(n.waits, 16 * 4);
  EXPECT_EQ(n.pipelined, 1);
  EXPECT_EQ(n.run, 8 * 4) << "one group, as wide as the launch";
  EXPECT_EQ(n.image_read, 2 * (16 * 64 + 64 * 64));
  EXPECT_EQ(n.image_written, 2 * 16 * 64);
  EXPECT_EQ(n.read() + n.written(), n.image_read + n.image_written);
}

TEST(ModelRows, StreamingAloneIsInProportionAndNeverFasterThanTheSlowestLink) {
  const MadeUp made;
  for (const auto& [signature, entry] : made.profile.entries) {
    const LaunchFacts facts{entry.kernel, entry.numbers, made.profile.rates};
    const double once = streaming_alone(facts, Bytes(1'000'000));
    EXPECT_NEAR(streaming_alone(facts, Bytes(3'000'000)), 3 * once, 1e-6 * once);
    EXPECT_GT(once, 2e6 / made.profile.rates.dram_bytes);
    EXPECT_GT(parts_in_turn(facts),
              made.profile.rates.launch_overhead + entry.numbers.macs / made.profile.rates.fma);
    for (const float value : streamed_row(facts, entry.time, Bytes(1'000'000))) {
      EXPECT_TRUE(std::isfinite(value));
    }
    for (const float value : bare_row(facts)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(SampledLaunches, AreTheSameEveryTimeAndOfEveryClassThatStreams) {
  const DeviceConfig config = test_config("adreno-750");
  const Plan plan = sampled_launches(52, 3, config), same = sampled_launches(52, 3, config);
  const Plan other = sampled_launches(52, 4, config);
  std::set<std::string> signatures, kernels;
  std::size_t different = 0;
  for (std::size_t i = 0; i < 52; ++i) {
    const std::string signature = launch_signature(plan, plan.launches[i]);
    EXPECT_EQ(signature, launch_signature(same, same.launches[i]));
    different += signature != launch_signature(other, other.launches[i]);
    signatures.insert(signature);
    kernels.insert(plan.launches[i].kernel);
    EXPECT_LE(plan.launches[i].macs, std::uint64_t{1} << 28);
    EXPECT_TRUE(catalogue_entry(plan.launches[i].kernel).streams);
  }
  EXPECT_GE(signatures.size(), 50u);
  EXPECT_GE(different, 50u);
  EXPECT_GE(kernels.size(), 9u);
  validate_launches(plan);
  // Each can be profiled.
  for (const PlanLaunch& launch : plan.launches) {
    make_profile_plan({{&plan, &launch, Bytes(0)}, {&plan, &launch, Bytes(100'000)}});
  }
}

TEST(HeldOut, ErrorsAreOfTheirDistribution) {
  const HeldOutErrors errors =
      errors_of(std::vector<double>{0.3, 0.05, 0.1, 0.02, 0.01, 0.2, 0.04, 0.03, 0.06, 0.5});
  EXPECT_EQ(errors.predictions, 10u);
  EXPECT_NEAR(errors.mean, 0.131, 1e-12);
  EXPECT_DOUBLE_EQ(errors.median, 0.06);
  EXPECT_DOUBLE_EQ(errors.ninth_decile, 0.5);
  EXPECT_DOUBLE_EQ(errors.within_tenth, 0.7);
  EXPECT_EQ(errors_of(std::vector<double>{}).predictions, 0u);
}

TEST(HeldOut, WhatIsHeldOutIsNotLearntFrom) {
  // One kernel alone: nothing is left to learn a kernel from; one profile: nor that.
  const MadeUp made;
  EXPECT_EQ(held_out({&made.profile}, HeldOutGroup::kernel, 5).bare.predictions, 0u);
  EXPECT_EQ(held_out({&made.profile}, HeldOutGroup::profile, 5).bare.predictions, 0u);
  // A shape that is held out is so on every device: a copy of the profile helps nothing.
  DeviceProfile copy = made.profile;
  copy.device = "copy";
  const ModelErrors alone = held_out({&made.profile}, HeldOutGroup::shape, 5);
  const ModelErrors both = held_out({&made.profile, &copy}, HeldOutGroup::shape, 5);
  EXPECT_GT(both.bare.mean, alone.bare.mean / 3);
  // Nor is another profile of the device learnt from where it has the same launches.
  copy.device = made.profile.device;
  EXPECT_EQ(held_out({&made.profile, &copy}, HeldOutGroup::profile, 5).bare.predictions, 0u);
  DeviceProfile half = made.profile;
  while (half.entries.size() > 15) half.entries.erase(half.entries.begin());
  EXPECT_EQ(held_out({&half, &made.profile}, HeldOutGroup::profile, 5).bare.predictions, 15u);
}

TEST(LaunchSignature, TellsApartWhatTakesAnotherTime) {
  MadeUp made;
  std::set<std::string> signatures;
  for (const PlanLaunch& launch : made.plan.launches) {
    signatures.insert(launch_signature(made.plan, launch));
  }
  EXPECT_EQ(signatures.size(), made.plan.launches.size());
  const std::string before = launch_signature(made.plan, made.plan.launches[0]);
  made.plan.launches[0].parameters[streams_parameter] = "1";
  made.plan.launches[0].id = "other";
  EXPECT_EQ(launch_signature(made.plan, made.plan.launches[0]), before);
  made.plan.accumulate = DataType::f16;
  EXPECT_NE(launch_signature(made.plan, made.plan.launches[0]), before);
}

TEST(ProfilePlan, RunsEachVariantAndStreamsWhatItSays) {
  const MadeUp made;
  std::vector<ProfiledVariant> variants;
  for (const std::uint64_t bytes : {0, 30000, 3'000'000, 60'000'000}) {
    variants.push_back({&made.plan, &made.plan.launches[4], Bytes(bytes)});
    variants.push_back({&made.plan, &made.plan.launches[9], Bytes(bytes)});
  }
  const ProfilePlan profiled = make_profile_plan(variants);
  ASSERT_EQ(profiled.launches.size(), variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const PlanLaunch& launch = profiled.plan.launch(profiled.launches[i]);
    EXPECT_EQ(launch_signature(profiled.plan, launch),
              launch_signature(made.plan, *variants[i].launch));
    const std::vector<WeightStream> streams = streams_in(profiled.plan, launch);
    ASSERT_EQ(streams.size(), variants[i].streamed == Bytes(0) ? 0u : 1u);
    if (streams.empty()) continue;
    const Bytes moved = streams[0].rows.row_bytes * streams[0].rows.count;
    EXPECT_EQ(moved, profiled.streamed[i]);
    EXPECT_LE(streams[0].rows.count, 8192u) << "rows that each device's images have";
    EXPECT_LE(std::abs(static_cast<double>(moved.count()) -
                       static_cast<double>(variants[i].streamed.count())),
              static_cast<double>(streams[0].rows.row_bytes.count()));
  }
  // Before each one launch reads 8 MiB, and is not among those that are simulated with it.
  const auto position = [&](const std::string& id) { return std::stoul(id.substr(1)); };
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::size_t first = position(profiled.prepared_from[i]);
    const PlanLaunch& sweep = profiled.plan.launches.at(first - 1);
    Bytes read;
    for (const LaunchArgument& argument : sweep.arguments) {
      const auto* used = std::get_if<TensorArgument>(&argument);
      if (used != nullptr && !used->write) read = read + profiled.plan.tensor(used->tensor).bytes;
    }
    EXPECT_GE(read, Bytes(8 << 20)) << i;
  }
}

}  // namespace
}  // namespace fm
