// Rules of the shader core that hold over wave widths, engines and units.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/sim/gpu_machine.hpp"

namespace fm {
namespace {

using test::buffer, test::expression, test::GpuMachine, test::image;
using testing::IsEmpty;
using trace::GROUP_X, trace::LOCAL_X, trace::LOOP;

constexpr std::uint64_t mebi = 1 << 20;

DeviceConfig config_with(const std::vector<std::pair<std::string, std::string>>& settings) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  for (const auto& [path, value] : settings) config.set(path, value);
  config.check();
  return config;
}

/// One engine, whose rates of arithmetic but FMAs do not matter.
DeviceConfig one_engine(const std::string& inactive_lanes, const std::string& fma_per_clock) {
  return config_with({{"gpu.inactive_lanes", inactive_lanes},
                      {"gpu.issue_per_clock", "1"},
                      {"gpu.waves_per_core", "16"},
                      {"gpu.fma_per_clock", fma_per_clock},
                      {"gpu.convert_per_clock", "16"},
                      {"gpu.integer_per_clock", "16"}});
}

class WaveWidth : public testing::TestWithParam<std::uint32_t> {};

TEST_P(WaveWidth, ChangesTheWavesNotTheWork) {
  const std::uint32_t width = GetParam();
  GpuMachine machine(
      config_with({{"gpu.wave_width", std::to_string(width)},
                   {"gpu.waves_per_core", std::to_string(1024 / width)},
                   {"gpu.fma_per_clock", std::to_string(8 * std::min(16u, width))}}));
  machine.add(test::gemm_program(61, 192, 64),
              {image(0, 16 * mebi, 16, 61, 8), image(1, 32 * mebi, 48, 64, 8),
               image(2, 48 * mebi, 48, 61, 8)});
  machine.run();
  EXPECT_THAT(machine.faults(), IsEmpty());
  // 3 x 4 work-groups of 64 work-items, each 16 steps of 4 x 16 FMAs.
  EXPECT_EQ(machine.counter("core.operations.fma"), 12u * 64 * 16 * 64);
  EXPECT_EQ(machine.counter("core.waves"), 12u * ((64 + width - 1) / width));
  EXPECT_EQ(machine.counter("core.lanes_idle") == 0, width <= 16)
      << "rows beyond the image, and waves wider than the work-group";
}

INSTANTIATE_TEST_SUITE_P(Widths, WaveWidth, testing::Values(8u, 16u, 32u, 64u, 128u));

TEST(ShaderCore, EveryIssueSlotOfALaunchHasOneCause) {
  GpuMachine machine(config_with({}));
  machine.add(test::gemm_program(61, 192, 64),
              {image(0, 16 * mebi, 16, 61, 8), image(1, 32 * mebi, 48, 64, 8),
               image(2, 48 * mebi, 48, 61, 8)});
  trace::AccessProgram stores = test::empty_program({256, 1, 1}, {40, 1, 1});
  test::add_access(&stores, stores.mutable_body(), trace::GLOBAL, true, 16, 0,
                   expression(0, {{4096, GROUP_X}, {16, LOCAL_X}}));
  machine.add(stores, {buffer(0, 64 * mebi)});
  machine.run();
  for (const GpuLaunchReport& report : machine.reports()) {
    const double sum =
        std::accumulate(report.stalls.begin(), report.stalls.end(), 0.0,
                        [](double total, const auto& share) { return total + share.second; });
    EXPECT_NEAR(sum, 1, 1e-12) << report.bound;
  }
}

TEST(ShaderCore, TheOldestWaveSaysWhyASlotIsLost) {
  // One wave that waits for memory: its engine's slots are lost to the load, the others' idle.
  trace::AccessProgram program = test::empty_program({16, 1, 1}, {1, 1, 1});
  test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0,
                   expression(0, {{4, LOCAL_X}}));
  test::add_arithmetic(program.mutable_body(), trace::FMA, 1);
  GpuMachine machine(config_with({{"gpu.cores", "1"}}));
  machine.add(program, {buffer(0, mebi)});
  machine.run();
  EXPECT_EQ(machine.counter("core.busy"), 2u);
  EXPECT_GT(machine.counter("core.stall.load"), 100u);
  EXPECT_EQ(machine.counter("core.stall.texture"), 0u);
  EXPECT_EQ(machine.counter("core.stall.mshr"), 0u);
}

/// A work-group of five work-items, each of which does `operations` FMAs, in one wave of sixteen.
trace::AccessProgram five_items(std::uint32_t operations) {
  trace::AccessProgram program = test::empty_program({5, 1, 1}, {1, 1, 1});
  test::add_arithmetic(program.mutable_body(), trace::FMA, operations);
  return program;
}

TEST(ShaderCore, SkippedLanesTakeNoTime) {
  const auto cycles = [](const std::string& inactive_lanes) {
    GpuMachine machine(one_engine(inactive_lanes, "4"));
    machine.add(five_items(64), {});
    machine.run();
    EXPECT_THAT(machine.faults(), IsEmpty());
    EXPECT_EQ(machine.counter("core.operations.fma"), 5u * 64);
    return machine.counter("core.arithmetic_cycles.fma");
  };
  EXPECT_EQ(cycles("issued"), 64u * 16 / 4);
  EXPECT_EQ(cycles("skipped"), 64u * 5 / 4);
}

TEST(ShaderCore, RatesMayBePartsOfALane) {
  for (const auto& [rate, cycles] : {std::pair("0.25", 10u * 5 * 4), {"2.5", 20u}, {"0.3", 167u}}) {
    GpuMachine machine(one_engine("skipped", rate));
    machine.add(five_items(10), {});
    machine.run();
    EXPECT_EQ(machine.counter("core.arithmetic_cycles.fma"), cycles) << rate;
  }
}

TEST(ShaderCore, TexelsOfSkippedLanesAreNotSampled) {
  trace::AccessProgram program = test::empty_program({5, 1, 1}, {1, 1, 1});
  test::add_access(&program, program.mutable_body(), trace::IMAGE, false, 4, 0,
                   expression(0, {{1, LOCAL_X}}), expression(0));
  for (const auto& [inactive_lanes, texels] : {std::pair("issued", 8u), {"skipped", 5u}}) {
    GpuMachine machine(config_with(
        {{"gpu.inactive_lanes", inactive_lanes}, {"texture.texels_per_clock", "0.25"}}));
    machine.add(program, {image(0, mebi, 64, 64, 4)});
    machine.run();
    EXPECT_EQ(machine.counter("texture.busy"), 4 * texels) << inactive_lanes;
  }
}

TEST(ShaderCore, WorkItemsTakeTimeToStart) {
  const auto busy = [](const char* inactive_lanes, const char* start) {
    GpuMachine machine(
        config_with({{"gpu.inactive_lanes", inactive_lanes}, {"gpu.work_item_start", start}}));
    trace::AccessProgram program = test::empty_program({20, 1, 1}, {3, 1, 1});
    test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0,
                     expression(0, {{4, LOCAL_X}}));
    test::add_arithmetic(program.mutable_body(), trace::FMA, 16);
    machine.add(program, {buffer(0, mebi)});
    machine.run();
    EXPECT_THAT(machine.faults(), IsEmpty());
    return machine.counter("core.busy");
  };
  // Three work-groups of two waves: one of 16 work-items, one of 4.
  EXPECT_EQ(busy("issued", "7 cycles") - busy("issued", "0 cycles"), 3u * 2 * 7);
  EXPECT_EQ(busy("skipped", "7 cycles") - busy("skipped", "0 cycles"), 3u * 20 * 7);
}

TEST(ShaderCore, MissesBeyondTheMshrsHoldTheUnit) {
  // 16 lanes on 16 lines: with one MSHR a fetch at a time, with 16 all together.
  trace::AccessProgram program = test::empty_program({16, 1, 1}, {1, 1, 1});
  test::add_access(&program, program.mutable_body(), trace::GLOBAL, false, 4, 0,
                   expression(0, {{64, LOCAL_X}}));
  std::uint64_t time[2], blocked[2];
  for (const bool many : {false, true}) {
    GpuMachine machine(config_with({{"load_store.mshrs", many ? "16" : "1"}}));
    machine.add(program, {buffer(0, mebi)});
    machine.run();
    time[many] = machine.reports()[0].end.count() - machine.reports()[0].start.count();
    blocked[many] = machine.counter("load_store.blocked_mshr");
  }
  EXPECT_EQ(blocked[true], 0u);
  EXPECT_GT(blocked[false], 15u * 20);
  EXPECT_GT(time[false], time[true]);
}

TEST(ShaderCore, ImageWritesTakeTheirDevicesPath) {
  trace::AccessProgram program = test::empty_program({16, 1, 1}, {1, 1, 1});
  test::add_access(&program, program.mutable_body(), trace::IMAGE, true, 8, 0,
                   expression(0, {{1, LOCAL_X}}), expression(0));
  const auto counter = [&](const char* path, const char* name) {
    GpuMachine machine(config_with({{"texture.image_writes", path}}));
    machine.add(program, {image(0, mebi, 64, 64, 8)});
    machine.run();
    EXPECT_EQ(machine.counter("texture.accesses"), 0u);
    return machine.counter(name);
  };
  // A row of 16 texels of 8 bytes: 4 x 2 texels a line.
  EXPECT_EQ(counter("load_store", "load_store.write_allocations"), 4u);
  EXPECT_EQ(counter("load_store", "load_store.write_bypasses"), 0u);
  EXPECT_EQ(counter("l2", "load_store.write_allocations"), 0u);
  EXPECT_EQ(counter("l2", "load_store.write_bypasses"), 4u);
}

}  // namespace
}  // namespace fm
