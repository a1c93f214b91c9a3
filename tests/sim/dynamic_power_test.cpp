// Clocks that change during a run, temperature, and what else uses the memory meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/memory/block.hpp"
#include "sim/power/governor.hpp"
#include "sim/power/thermal.hpp"
#include "tests/sim/replay_bench.hpp"

namespace fm {
namespace {

using test::config_with;
using test::counter;
using test::launch;
using test::run;
using test::Settings;
using test::TraceBuilder;

constexpr std::uint64_t kib = 1024, mib = 1024 * 1024;

TEST(Clock, CyclesCountOnAcrossAChangeOfPeriod) {
  Clock clock;
  clock.period = 1000;
  EXPECT_EQ(clock.cycle_from(4001), 5u);
  clock.rate = std::make_shared<ClockRate>(ClockRate{1000, 0, 0});
  const Clock copy = clock;
  EXPECT_EQ(clock.cycle_from(4001), 5u);
  clock.change_period(3000, 4500);
  EXPECT_EQ(clock.cycle_from(4500), 5u);
  EXPECT_EQ(clock.at(5), 4500u);
  EXPECT_EQ(copy.at(7), 10500u) << "copies share the rate";
  EXPECT_EQ(clock.cycle_from(4501), 6u);
  clock.change_period(1000, 7600);
  EXPECT_EQ(clock.at(7), 7600u) << "the first cycle that had not begun";
  EXPECT_EQ(clock.at(9), 9600u);
}

TEST(Governor, RampsAPointAtATimeWithinWhatIsAllowed) {
  const std::vector<CurvePoint> points{{0.25, 0.5}, {0.5, 0.75}, {1, 1}};
  Governor governor(points, true, 0.9, 0.5);
  EXPECT_EQ(governor.speed(), 0.25);
  governor.observe(0.9);  // not above
  EXPECT_EQ(governor.speed(), 0.25);
  governor.observe(0.95);
  EXPECT_EQ(governor.speed(), 0.5);
  EXPECT_EQ(governor.voltage(), 0.75);
  governor.observe(1);
  governor.observe(1);
  EXPECT_EQ(governor.speed(), 1);
  governor.observe(0.6);  // between the thresholds
  EXPECT_EQ(governor.speed(), 1);
  governor.allow(1);
  EXPECT_EQ(governor.speed(), 0.25);
  governor.allow(0);
  EXPECT_EQ(governor.allowed(), 1u);
  governor.allow(3);
  EXPECT_EQ(governor.speed(), 1) << "the limit hid the wish, it did not change it";
  governor.observe(0.1);
  EXPECT_EQ(governor.speed(), 0.5);

  Governor fixed(points, false, 0.9, 0.5);
  fixed.observe(0);
  EXPECT_EQ(fixed.speed(), 1);
  fixed.allow(2);
  EXPECT_EQ(fixed.speed(), 0.5) << "heat limits a fixed clock too";
}

TEST(BusyTime, CountsOverlappingWorkOnce) {
  BusyTime busy;
  busy.begin(Picoseconds(10));
  busy.begin(Picoseconds(20));
  busy.end(Picoseconds(30));
  EXPECT_EQ(busy.take(Picoseconds(35)).count(), 25u);
  busy.end(Picoseconds(40));
  EXPECT_EQ(busy.take(Picoseconds(100)).count(), 5u);
  EXPECT_EQ(busy.take(Picoseconds(200)).count(), 0u);
}

DeviceConfig small_phone() {
  return config_with({{"thermal.ambient", "20 C"},
                      {"thermal.start", "30 C"},
                      {"thermal.resistance", "5 K/W"},
                      {"thermal.capacity", "0.4 J/K"}});  // 2 s
}

TEST(ThermalNode, FollowsTheDifferentialEquation) {
  ThermalNode node(small_phone());
  node.heat(4, Picoseconds(1'000'000'000'000));
  double euler = 30;
  constexpr int steps = 1'000'000;
  for (int i = 0; i < steps; ++i) euler += (4 - (euler - 20) / 5) / 0.4 / steps;
  EXPECT_NEAR(node.celsius(), euler, 1e-4);
  node.heat(4, Picoseconds(60'000'000'000'000));
  EXPECT_NEAR(node.celsius(), 40, 1e-9) << "settles at P R above the ambient";
  node.heat(0, Picoseconds(2'000'000'000'000));
  EXPECT_NEAR(node.celsius(), 20 + 20 * std::exp(-1), 1e-9);
}

TEST(ThermalNode, StepsAddUp) {
  ThermalNode whole(small_phone()), parts(small_phone());
  whole.heat(3, Picoseconds(900'000'000'000));
  for (int i = 0; i < 9; ++i) parts.heat(3, Picoseconds(100'000'000'000));
  EXPECT_NEAR(whole.celsius(), parts.celsius(), 1e-9);
}

/// One work-group that only computes: no memory slower or faster than the GPU.
std::uint32_t arithmetic_program(TraceBuilder* trace, std::uint32_t operations) {
  trace::AccessProgram program = test::empty_program({16, 1, 1}, {1, 1, 1});
  test::add_arithmetic(program.mutable_body(), trace::FMA, operations);
  return trace->add_program(program);
}

std::uint64_t cycles_of(const Result& result, const std::string& id, std::uint64_t period_ps,
                        std::uint64_t overhead_ns) {
  const ResultLaunch& one = launch(result, id);
  const std::uint64_t ps = ((one.end - one.start).count() - overhead_ns) * 1000;
  EXPECT_EQ(ps % period_ps, 0u) << id;
  return ps / period_ps;
}

const Settings round_gpu{{"gpu.clock", "1 GHz"},
                         {"host.launch_overhead", "1 us"},
                         {"host.enqueue_overhead", "1 us"},
                         {"slc.bandwidth", "50 GB/s"},
                         {"gpu.operating_points", "[[0.25, 0.5 V], [0.5, 0.75 V], [1, 1 V]]"}};

DeviceConfig with(Settings settings) {
  settings.insert(settings.begin(), round_gpu.begin(), round_gpu.end());
  return config_with(settings);
}

/// The GPU's clock changes at a launch's start and its cycles stay the same, to the picosecond.
TEST(DynamicPower, AKernelTakesItsCyclesAtTheClockOfItsStart) {
  TraceBuilder trace;
  const auto program = arithmetic_program(&trace, 20'000);
  std::uint64_t last = 0;
  for (int i = 0; i < 9; ++i) last = trace.launch("L" + std::to_string(i), program, {});
  trace.wait({last});
  const Result fixed = run(trace, with({}));
  const std::uint64_t cycles = cycles_of(fixed, "L0", 1000, 1000);
  EXPECT_GT(cycles, 20'000u);
  EXPECT_EQ(launch(fixed, "L0").clock_mhz, 1000);

  // A launch takes 82 us at a quarter of the clock: looks after 100 us change it for the next.
  const Result ramp =
      run(trace, with({{"governor.gpu", "ramp"}, {"governor.gpu_interval", "100 us"}}));
  std::vector<double> clocks;
  for (const ResultLaunch& one : ramp.launches) {
    clocks.push_back(one.clock_mhz);
    const auto period = static_cast<std::uint64_t>(1e6 / one.clock_mhz);
    EXPECT_EQ(cycles_of(ramp, one.id, period, 1000), cycles) << one.id;
  }
  EXPECT_EQ(clocks[0], 250);
  EXPECT_EQ(clocks[1], 250);
  EXPECT_TRUE(std::is_sorted(clocks.begin(), clocks.end()));
  EXPECT_THAT(clocks, testing::Contains(500));
  EXPECT_EQ(clocks.back(), 1000);
  ASSERT_FALSE(ramp.power_over_time.empty());
  EXPECT_EQ(ramp.power_over_time[0].time.count(), 100'000u);
  EXPECT_EQ(ramp.power_over_time[0].gpu_speed, 0.5);
}

TEST(DynamicPower, TimesOfMemoryDoNotFollowTheGpusClock) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 4096, 16, 1);
  trace.buffer(1, 4 * mib);
  trace.buffer(2, 4 * mib);
  trace.wait({trace.launch("L0", program, {1, 2})});
  const auto time = [&](const char* mode) {
    const Result result = run(trace, with({{"governor.gpu", mode},
                                           {"governor.gpu_interval", "1 s"},
                                           {"gpu.operating_points", "[[0.5, 0.5 V], [1, 1 V]]"}}));
    return static_cast<double>((launch(result, "L0").end - launch(result, "L0").start).count());
  };
  EXPECT_LT(time("ramp"), 1.9 * time("fixed"));
}

TEST(DynamicPower, AKernelsEventsCostItsVoltageSquared) {
  TraceBuilder trace;
  const auto program = arithmetic_program(&trace, 1000);
  trace.wait({trace.launch("L0", program, {})});
  const auto energy = [&](const char* mode) {
    return launch(run(trace, with({{"governor.gpu", mode},
                                   {"energy.fma", "1 pJ"},
                                   {"governor.gpu_interval", "1 s"}})),
                  "L0")
        .energy;
  };
  const ResultEnergy fast = energy("fixed"), slow = energy("ramp");
  EXPECT_DOUBLE_EQ(fast.by_component.at("alu_fma"), 16'000 * 1e-3);
  EXPECT_DOUBLE_EQ(slow.by_component.at("alu_fma"), 16'000 * 1e-3 / 4);
}

TEST(DynamicPower, WorkUnderWayGoesOnAtTheNewCpuClock) {
  TraceBuilder trace;
  trace.think(trace::Think::CONTEXT, 1);
  trace.think(trace::Think::PROGRAMS, 1, 1);
  const Result result =
      run(trace, config_with({{"host.context_creation", "10 ms"},
                              {"host.program_load", "1 ms"},
                              {"governor.cpu", "ramp"},
                              {"governor.cpu_interval", "4 ms"},
                              {"host.operating_points", "[[0.5, 0.5 V], [1, 1 V]]"}}));
  // 4 ms at half speed do 2 of the 10, the other 8 run at full speed.
  EXPECT_EQ(result.latency.integrated.count(), 4'000'000u + 8'000'000 + 1'000'000);
  EXPECT_EQ(counter(result, "host.busy_time"), 13e9);
  EXPECT_EQ(counter(result, "host.active_time"), 4e9 * 0.5 * 0.25 + 9e9);
}

/// A data rate of an eighth moves an eighth of the bytes, and goes up with the load.
TEST(DynamicPower, ASlowDramMovesLess) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 65536, 16, 1);
  trace.buffer(1, 64 * mib);
  trace.buffer(2, 64 * mib);
  trace.wait({trace.launch("L0", program, {1, 2})});
  const auto dram = [&](const char* mode, const char* interval) {
    const Result result =
        run(trace,
            config_with({{"governor.dram", mode},
                         {"governor.dram_interval", interval},
                         {"dram.operating_points", "[[0.125, 0.5 V], [0.25, 0.5 V], [1, 1 V]]"}}));
    return launch(result, "L0").peaks.at("dram");
  };
  const double fast = dram("fixed", "1 s"), slow = dram("ramp", "1 s"),
               ramp = dram("ramp", "50 us");
  EXPECT_GT(fast, 0.3);
  EXPECT_LE(slow, 0.125);
  EXPECT_GT(slow, 0.06);
  EXPECT_GT(ramp, 2 * slow);
  EXPECT_LT(ramp, fast);
}

TEST(DynamicPower, AHotGpuSlowsDownAndComesBack) {
  TraceBuilder trace;
  const auto program = arithmetic_program(&trace, 10'000);
  std::uint64_t last = 0;
  for (int i = 0; i < 60; ++i) last = trace.launch("L" + std::to_string(i), program, {});
  trace.wait({last});
  // 1 W at full voltage settles 50 K above, a quarter of it 12.5 K: the limit lies between.
  const DeviceConfig config = with({{"energy.static_gpu", "1 W"},
                                    {"energy.static_memory", "0 mW"},
                                    {"energy.static_cpu", "0 mW"},
                                    {"energy.static_storage", "0 mW"},
                                    {"energy.cpu_active", "0 mW"},
                                    {"governor.gpu_interval", "20 us"},
                                    {"gpu.operating_points", "[[0.5, 0.25 V], [1, 1 V]]"},
                                    {"thermal.ambient", "20 C"},
                                    {"thermal.start", "20 C"},
                                    {"thermal.limit", "45 C"},
                                    {"thermal.hysteresis", "5 K"},
                                    {"thermal.resistance", "50 K/W"},
                                    {"thermal.capacity", "2e-6 J/K"}});  // 100 us
  const Result result = run(trace, config);
  double hottest = 0;
  bool slowed = false, came_back = false;
  for (const PowerSample& sample : result.power_over_time) {
    hottest = std::max(hottest, sample.temperature_c);
    came_back |= slowed && sample.gpu_speed == 1;
    slowed |= sample.gpu_speed == 0.5;
  }
  EXPECT_TRUE(slowed);
  EXPECT_TRUE(came_back);
  EXPECT_GT(hottest, 45);
  EXPECT_LT(hottest, 60) << "it would settle at 70";
  DeviceConfig cool = config;
  cool.set("thermal.throttling", "false");
  const Result unlimited = run(trace, cool);
  EXPECT_GT(result.latency.integrated, unlimited.latency.integrated);
  EXPECT_TRUE(unlimited.power_over_time.empty());
}

TEST(DynamicPower, NothingChangesWhereNothingMay) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  trace.buffer(1, 64 * kib);
  trace.wait({trace.launch("L0", program, {1, 1})});
  const auto integrated = [&](const char* throttling) {
    return run(trace, config_with({{"thermal.throttling", throttling}})).latency.integrated;
  };
  EXPECT_EQ(integrated("true"), integrated("false"));
}

TEST(BackgroundTraffic, TheDisplayReadsAtItsBandwidth) {
  TraceBuilder trace;
  trace.think(trace::Think::CONTEXT, 1);
  const Result result = run(trace, config_with({{"host.context_creation", "2 ms"},
                                                {"traffic.display_bandwidth", "1 GB/s"},
                                                {"traffic.display_burst", "4 KiB"}}));
  EXPECT_EQ(result.latency.integrated.count(), 2'000'000u);
  // A burst every 4.096 us.
  EXPECT_NEAR(counter(result, "traffic.display_bursts"), 488, 1);
  EXPECT_EQ(counter(result, "traffic.display_late_bursts"), 0);
  EXPECT_EQ(counter(result, "slc.display_lookups"), 64 * counter(result, "traffic.display_bursts"));
  EXPECT_GT(result.energy.by_component.at("dram_read"), 0);
}

TEST(BackgroundTraffic, ReadsAndWritesInTurnAndIsLateWhereMemoryIs) {
  TraceBuilder trace;
  trace.think(trace::Think::CONTEXT, 1);
  const Result result = run(trace, config_with({{"host.context_creation", "1 ms"},
                                                {"noc.port_lines", "1"},
                                                {"traffic.background_bandwidth", "10 GB/s"},
                                                {"traffic.background_burst", "4 KiB"}}));
  const double due = counter(result, "traffic.background_bursts");
  const double late = counter(result, "traffic.background_late_bursts");
  EXPECT_NEAR(due, 1e-3 * 10e9 / 4096, 1);
  EXPECT_GT(late, due / 2) << "one line at a time brings 64 B every 100 ns or so";
  EXPECT_EQ(counter(result, "slc.background_lookups"), 64 * (due - late));
  EXPECT_GT(counter(result, "dram.background_write_bursts") + counter(result, "slc.write_lookups"),
            0);
}

TEST(BackgroundTraffic, SlowsWhatNeedsTheMemory) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 8192, 16, 1);
  trace.buffer(1, 8 * mib);
  trace.buffer(2, 8 * mib);
  trace.wait({trace.launch("L0", program, {1, 2})});
  const auto time = [&](const char* bandwidth) {
    const Result result = run(trace, config_with({{"traffic.background_bandwidth", bandwidth}}));
    return (launch(result, "L0").end - launch(result, "L0").start).count();
  };
  EXPECT_GT(time("20 GB/s"), time("0 B/s"));
}

TEST(BackgroundTraffic, ADeadlockIsFoundBesideIt) {
  TraceBuilder trace;
  trace.wait({2});
  trace.buffer(1, kib);
  try {
    simulate(config_with({{"traffic.display_bandwidth", "1 GB/s"}}), trace.trace());
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("thread 0: operation 1 (wait), operation 2 missing"));
  }
}

}  // namespace
}  // namespace fm
