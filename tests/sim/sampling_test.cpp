#include <gtest/gtest.h>

#include <cmath>

#include "core/diagnostics.hpp"
#include "sim/replay/simulation.hpp"
#include "sim/sampling/counter_cells.hpp"
#include "sim/sampling/footprint.hpp"
#include "sim/sampling/launch_selection.hpp"
#include "tests/sim/gpu_machine.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm {
namespace {

using test::TraceBuilder;

constexpr std::uint64_t kib = 1024, mib = 1024 * 1024;

Result run(const TraceBuilder& trace, Sampling sampling, const std::string& config = "mali-g715") {
  SimulationOptions options;
  options.sampling = sampling;
  return simulate(DeviceConfig::load(config), trace.trace(), options);
}

void expect_laws(const Result& result) {
  for (const ResultCheck& check : result.checks) {
    EXPECT_TRUE(check.holds()) << check.law << ": " << check.left << " and " << check.right;
  }
}

double exec(const Result& result) { return static_cast<double>(result.latency.exec.count()); }

/// `layers` times the same two launches, each time over other weights.
TraceBuilder layers(std::uint64_t layers) {
  TraceBuilder trace;
  const auto first = trace.add_copy_program(64, 256), second = trace.add_copy_program(128, 96);
  trace.buffer(1, 256 * kib);
  trace.buffer(2, 256 * kib);
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    trace.buffer(10 + layer, 256 * kib, trace::PRELOADED);
  }
  std::uint64_t last = 0;
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    trace.launch("A" + std::to_string(layer), first, {10 + layer, 1}, {}, 10);
    last = trace.launch("B" + std::to_string(layer), second, {1, 2}, {}, 10);
  }
  trace.wait({last});
  return trace;
}

TEST(Sampling, FullSimulationHasNoErrorBound) {
  const Result full = run(layers(2), Sampling::full);
  EXPECT_EQ(full.sampling_mode, "full");
  EXPECT_EQ(full.sampling_error_bound, 0);
}

TEST(Sampling, RepeatedLaunchesAgreeWithFullSimulationWithinTheBound) {
  for (const char* config : {"mali-g715", "adreno-750"}) {
    const Result full = run(layers(12), Sampling::full, config);
    const Result sampled = run(layers(12), Sampling::automatic, config);
    EXPECT_EQ(sampled.sampling_mode, "auto");
    EXPECT_GT(sampled.sampling_error_bound, 0) << "something must have been skipped";
    EXPECT_LT(sampled.sampling_error_bound, 0.05);
    EXPECT_LE(std::abs(exec(sampled) / exec(full) - 1), sampled.sampling_error_bound);
    ASSERT_EQ(sampled.launches.size(), full.launches.size());
    for (const char* name : {"core.groups", "core.waves", "core.accesses", "core.operations.fma",
                             "gpu.launches", "gpu.launch_overhead"}) {
      EXPECT_EQ(sampled.counters.at(name).value, full.counters.at(name).value) << name;
    }
    for (const char* name : {"l2.read_lookups", "l2.fetches", "slc.read_lookups", "core.busy"}) {
      const double exact = full.counters.at(name).value;
      EXPECT_NEAR(sampled.counters.at(name).value, exact, 0.05 * exact) << name;
    }
  }
}

TEST(Sampling, SampledCountersObeyTheConservationLaws) {
  expect_laws(run(layers(12), Sampling::automatic));
  expect_laws(run(layers(12), Sampling::automatic, "adreno-750"));
}

TEST(Sampling, SkippedLaunchesReportWhatTheirModelDid) {
  const Result sampled = run(layers(12), Sampling::automatic);
  // A0 follows no other launch: a class of its own.
  const auto& model = sampled.launches[4];
  const auto& skipped = sampled.launches[20];
  ASSERT_EQ(model.id, "A2");
  ASSERT_EQ(skipped.id, "A10");
  const auto duration = [](const ResultLaunch& launch) {
    return static_cast<double>((launch.end - launch.start).count());
  };
  EXPECT_NEAR(duration(skipped), duration(model), 1) << "but for rounding to nanoseconds";
  EXPECT_EQ(skipped.bound, model.bound);
  EXPECT_EQ(skipped.counters.at("core.waves"), model.counters.at("core.waves"));
  double stalls = 0;
  for (const auto& [cause, share] : skipped.stalls) stalls += share;
  EXPECT_NEAR(stalls, 1, 1e-9);
}

TEST(Sampling, WhatDoesNotRepeatIsSimulatedInFull) {
  const Result full = run(layers(1), Sampling::full);
  const Result sampled = run(layers(1), Sampling::automatic);
  EXPECT_EQ(sampled.sampling_error_bound, 0);
  EXPECT_EQ(sampled.latency.integrated, full.latency.integrated);
  for (const auto& [name, counter] : full.counters) {
    EXPECT_EQ(sampled.counters.at(name).value, counter.value) << name;
  }
}

TEST(Sampling, IsDeterministic) {
  const TraceBuilder trace = layers(8);
  EXPECT_EQ(to_json(run(trace, Sampling::automatic)), to_json(run(trace, Sampling::automatic)));
}

/// Preloads `megabytes` images through a staging buffer, then runs a launch.
TraceBuilder preload(std::uint64_t megabytes) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 16);
  trace.buffer(1, mib, trace::STAGING);
  trace.buffer(2, 16 * kib);
  trace.buffer(3, 16 * kib);
  test::Causes before;
  for (std::uint64_t i = 0; i < megabytes; ++i) {
    before = {trace.image(10 + i, 512, 256, trace::PRELOADED)};
  }
  for (std::uint64_t i = 0; i < megabytes; ++i) {
    trace.read(1, mib, before);
    const auto map = trace.map(1, mib);
    const auto copy = trace.copy(1, 10 + i, 0, 256, mib, 1, "", {map});
    before = {copy};
  }
  trace.wait({trace.launch("L0", program, {2, 3}, before, 1)});
  return trace;
}

TEST(Sampling, PreloadingAgreesWithFullSimulation) {
  const TraceBuilder trace = preload(40);
  const Result full = run(trace, Sampling::full), sampled = run(trace, Sampling::automatic);
  expect_laws(sampled);
  const auto integrated = [](const Result& result) {
    return static_cast<double>(result.latency.integrated.count());
  };
  EXPECT_GT(sampled.sampling_error_bound, 0) << "something must have been skipped";
  EXPECT_LE(std::abs(integrated(sampled) / integrated(full) - 1), sampled.sampling_error_bound);
  for (const char* name : {"dram.storage_write_bursts", "dram.write_bursts", "dram.read_bursts",
                           "l2.copy_engine_lookups", "slc.storage_lookups"}) {
    const double exact = full.counters.at(name).value;
    EXPECT_NEAR(sampled.counters.at(name).value, exact, 0.05 * exact) << name;
  }
  for (const char* name : {"storage.read_bytes", "copy.written_bytes", "core.groups"}) {
    EXPECT_EQ(sampled.counters.at(name).value, full.counters.at(name).value) << name;
  }
}

Result run_launches(const TraceBuilder& trace, const std::string& launches, bool warm = false) {
  SimulationOptions options;
  options.launches = launches;
  options.warm = warm;
  const Result result = simulate(DeviceConfig::load("mali-g715"), trace.trace(), options);
  expect_laws(result);
  return result;
}

TEST(Launches, TheFirstAloneIsAsInTheWholeRun) {
  const Result full = run(layers(3), Sampling::full), first = run_launches(layers(3), "0:1");
  ASSERT_EQ(first.launches.size(), 1u);
  EXPECT_EQ(first.launches[0].id, "A0");
  EXPECT_EQ(first.launches[0].end - first.launches[0].start,
            full.launches[0].end - full.launches[0].start);
  EXPECT_EQ(first.counters.at("core.groups").value, 256);
  EXPECT_EQ(first.counters.at("gpu.launches").value, 1);
}

TEST(Launches, AreNamedByNumberOrId) {
  const Result result = run_launches(layers(3), "A1:5");
  ASSERT_EQ(result.launches.size(), 3u);
  EXPECT_EQ(result.launches[0].id, "A1");
  EXPECT_EQ(result.launches[2].id, "A2");
  EXPECT_EQ(run_launches(layers(3), "B2").launches.size(), 1u);
  for (const char* wrong : {"3:2", "0:7", "C1", "", "1:"}) {
    EXPECT_THROW(selected_launches(wrong, layers(3).trace()), UserError) << wrong;
  }
}

TEST(Launches, WarmCachesHoldWhatTheLaunchesBeforeTouched) {
  const Result full = run(layers(3), Sampling::full);
  const Result cold = run_launches(layers(3), "B0"), warm = run_launches(layers(3), "B0", true);
  const auto misses = [](const ResultLaunch& launch) {
    const auto found = launch.counters.find("l2.read_misses");
    return found == launch.counters.end() ? 0 : found->second;
  };
  EXPECT_GT(misses(cold.launches[0]), 0);
  // Translations are cold in both.
  EXPECT_LT(misses(warm.launches[0]), 0.1 * misses(cold.launches[0]));
  EXPECT_NEAR(misses(warm.launches[0]), misses(full.launches[1]), 16);
}

TEST(Launches, NothingElseTakesTime) {
  const Result result = run_launches(preload(2), "L0");
  EXPECT_EQ(result.counters.at("storage.read_bytes").value, 0);
  EXPECT_EQ(result.counters.at("copy.copies").value, 0);
  EXPECT_LT(result.latency.init.count(), run(preload(2), Sampling::full).latency.init.count());
}

Result repeat(const TraceBuilder& trace, std::uint64_t times, Sampling sampling = Sampling::full) {
  SimulationOptions options;
  options.repetitions = times;
  options.sampling = sampling;
  const Result result = simulate(DeviceConfig::load("mali-g715"), trace.trace(), options);
  expect_laws(result);
  return result;
}

TEST(Repeat, LaterRunsFindPreloadedWeightsAndWarmCaches) {
  const Result once = run(preload(3), Sampling::full), twice = repeat(preload(3), 2);
  ASSERT_EQ(twice.repetitions.size(), 2u);
  EXPECT_EQ(twice.repetitions[0].integrated, once.latency.integrated);
  EXPECT_EQ(twice.repetitions[1].integrated, twice.latency.integrated);
  EXPECT_LT(twice.latency.integrated.count(), once.latency.integrated.count() / 10);
  EXPECT_EQ(twice.counters.at("storage.read_bytes").value, 0);
  EXPECT_EQ(twice.counters.at("gpu.launches").value, 1);
  EXPECT_LT(twice.counters.at("dram.load_store_read_bursts").value,
            once.counters.at("dram.load_store_read_bursts").value);
  EXPECT_TRUE(once.repetitions.empty());
}

TEST(Repeat, EachRunIsTheSameWorkAndTimesBeginWithIt) {
  const Result thrice = repeat(layers(2), 3), once = run(layers(2), Sampling::full);
  ASSERT_EQ(thrice.launches.size(), 4u);
  EXPECT_EQ(thrice.counters.at("core.waves").value, once.counters.at("core.waves").value);
  EXPECT_EQ(thrice.launches[0].start, thrice.latency.init);
  EXPECT_EQ(thrice.memory.over_time.front().time.count(), 0u);
  EXPECT_LE(thrice.memory.over_time.back().time, thrice.latency.integrated);
  const auto time = [&](std::size_t i) {
    return static_cast<double>(thrice.repetitions[i].exec.count());
  };
  EXPECT_NEAR(time(1), time(2), 0.01 * time(2)) << "both are warm";
  EXPECT_LT(time(1), time(0));
}

TEST(Repeat, SampledRunsSkipWhatRepeats) {
  const Result full = repeat(layers(2), 6), sampled = repeat(layers(2), 6, Sampling::automatic);
  EXPECT_GT(sampled.sampling_error_bound, 0);
  EXPECT_NEAR(exec(sampled), exec(full), 0.05 * exec(full));
}

TEST(CounterCells, AddWhatMovedAgain) {
  struct Counts {
    std::uint64_t shown = 5, hidden = 7;
  } counts;
  std::uint64_t launches = 1;
  CounterRegistry registry;
  registry.follow(counts);
  registry.add("some.counter", "things", "a counter", &counts.shown);
  registry.add("gpu.launches", "launches", "not sampled", &launches);
  CounterCells cells(registry);
  const CounterCells::Moves before = cells.now();
  counts.shown += 2, counts.hidden += 3, ++launches;
  const CounterCells::Moves moves = cells.since(before);
  EXPECT_EQ(cells.of("some.counter", moves), 2u);
  cells.add(moves, 10);
  cells.add(moves, -1);
  EXPECT_EQ(counts.shown, 5u + 2 + 18);
  EXPECT_EQ(counts.hidden, 7u + 3 + 27);
  EXPECT_EQ(launches, 2u);
}

TEST(Footprint, FollowsAddressExpressions) {
  using trace::GROUP_X, trace::LOCAL_X, trace::LOOP;
  trace::AccessProgram program = test::empty_program({8, 1, 1}, {4, 1, 1});
  auto* loop = test::add_loop(program.mutable_body(), 0, test::expression(2), test::expression(5));
  test::add_access(&program, loop, trace::GLOBAL, false, 16, 3,
                   test::expression(64, {{16, LOCAL_X}, {128, GROUP_X}, {1000, LOOP, 0}}));
  const auto footprint = footprint_of(program);
  ASSERT_EQ(footprint.size(), 1u);
  EXPECT_EQ(footprint[0].argument, 3u);
  EXPECT_FALSE(footprint[0].write);
  ASSERT_TRUE(footprint[0].x);
  EXPECT_EQ(footprint[0].x->low, 64 + 2000);
  EXPECT_EQ(footprint[0].x->high, 64 + 16 * 7 + 128 * 3 + 1000 * 4 + 15);
  const TouchedRange range = touched_range(footprint[0], Address(1 << 20), Bytes(mib), Bytes(100));
  EXPECT_EQ(range.tensor.count(), (1u << 20) + 100);
  EXPECT_EQ(range.address.count(), (1u << 20) + 100 + 2064);
  EXPECT_EQ(range.bytes.count(), 16u * 7 + 128 * 3 + 1000 * 2 + 16);
}

TEST(Footprint, OfAnImageIsTheTilesThatItsTexelsLieIn) {
  TexelLayout texels;
  texels.order = TexelOrder::mali_u_interleaved;  // tiles of 16 x 16 texels
  const ImageLayout layout(texels, 64, 100, 8);
  ArgumentFootprint footprint;
  footprint.x = Interval{-1, 20};  // two tiles: the one left of the image is its edge
  footprint.y = Interval{17, 40};  // bands 1 and 2
  const TouchedRange range = touched_range(footprint, Address(1 << 20), layout);
  EXPECT_EQ(range.address.count(), (1u << 20) + layout.offset_of(0, 16));
  EXPECT_EQ(range.bytes.count(), 2u * 16 * 16 * 8);
  EXPECT_EQ(range.segments, 2u);
  EXPECT_EQ(range.pitch.count(), layout.offset_of(0, 32) - layout.offset_of(0, 16));
  footprint.x = footprint.y = std::nullopt;
  const TouchedRange whole = touched_range(footprint, Address(1 << 20), layout);
  EXPECT_EQ(whole.bytes * whole.segments, layout.allocated_bytes());
}

}  // namespace
}  // namespace fm
