// Traces of other programs: kernels without a description, copies between buffers.
#include <gtest/gtest.h>

#include "core/diagnostics.hpp"
#include "tests/sim/replay_bench.hpp"

namespace fm::test {
namespace {

std::uint64_t nanoseconds(const ResultLaunch& launch) {
  return (launch.end - launch.start).count();
}

TEST(ForeignTrace, LaunchesTakeTheirMeasuredTime) {
  TraceBuilder builder;
  builder.buffer(1, 4096);
  builder.foreign_launch("K0", 1'234'567, {1});
  builder.foreign_launch("K1", 1, {1});
  builder.wait({3});
  const Result result = run(builder);
  EXPECT_EQ(nanoseconds(launch(result, "K0")), 1'234'567U);
  EXPECT_EQ(nanoseconds(launch(result, "K1")), 1U);
  EXPECT_EQ(launch(result, "K0").bound, "measured");
  EXPECT_EQ(launch(result, "K0").kernel, "foreign");
  EXPECT_EQ(counter(result, "gpu.measured_launches"), 2);
  EXPECT_EQ(counter(result, "gpu.measured_time"), 1'234'568'000);
  EXPECT_EQ(counter(result, "gpu.launches"), 2);
}

TEST(ForeignTrace, WithoutATimeALaunchTakesItsOverhead) {
  TraceBuilder builder;
  builder.foreign_launch("K0", std::nullopt);
  const Result result = run(builder, config_with({{"host.launch_overhead", "7 us"}}));
  EXPECT_EQ(nanoseconds(launch(result, "K0")), 7000U);
}

TEST(ForeignTrace, StandsBesideDescribedLaunches) {
  TraceBuilder alone, mixed;
  for (TraceBuilder* builder : {&alone, &mixed}) {
    const std::uint32_t program = builder->add_copy_program(64, 8);
    builder->buffer(1, 8192);
    builder->buffer(2, 8192);
    if (builder == &mixed) builder->foreign_launch("K0", 50'000, {1, 2});
    builder->launch("L0", program, {1, 2});
    if (builder == &mixed) builder->foreign_launch("K1", 50'000, {1, 2});
  }
  const Result without = run(alone), with = run(mixed);
  // Only refreshes of the DRAM fall differently.
  const double expected = static_cast<double>(nanoseconds(launch(without, "L0")));
  EXPECT_NEAR(static_cast<double>(nanoseconds(launch(with, "L0"))), expected, 0.1 * expected);
  EXPECT_EQ(launch(with, "L0").counters.at("gpu.launches"), 1);
  EXPECT_GE(launch(with, "L0").start, launch(with, "K0").end);
  EXPECT_GE(launch(with, "K1").start, launch(with, "L0").end);
}

TEST(ForeignTrace, SamplingAndSelectionLeaveMeasuredTimes) {
  TraceBuilder builder;
  const std::uint32_t program = builder.add_copy_program(64, 8);
  builder.buffer(1, 8192);
  builder.buffer(2, 8192);
  for (int i = 0; i < 6; ++i) {
    builder.foreign_launch("K" + std::to_string(i), 20'000, {1});
    builder.launch("L" + std::to_string(i), program, {1, 2});
  }
  SimulationOptions sampled;
  sampled.sampling = Sampling::automatic;
  SimulationOptions selected;
  selected.launches = "K2:K4";
  for (const SimulationOptions& options : {sampled, selected}) {
    const Result result = simulate(config_with(), builder.trace(), options);
    EXPECT_EQ(nanoseconds(launch(result, "K3")), 20'000U);
    for (const ResultCheck& check : result.checks) EXPECT_TRUE(check.holds()) << check.law;
  }
}

TEST(ForeignTrace, ItsObjectsMustBeThere) {
  TraceBuilder builder;
  builder.foreign_launch("K0", 1000, {5});
  EXPECT_THROW(simulate(config_with(), builder.trace()), UserError);
}

TEST(ForeignTrace, CopiesAndFillsMoveTheirBytes) {
  TraceBuilder builder;
  builder.buffer(1, 1 << 20);
  builder.buffer(2, 1 << 20);
  builder.copy_buffer(1, 2, 1 << 20);
  builder.copy_buffer(0, 1, 1 << 19);
  const Result result = run(builder);
  EXPECT_EQ(counter(result, "copy.copies"), 2);
  EXPECT_EQ(counter(result, "copy.read_bytes"), 1 << 20);
  EXPECT_EQ(counter(result, "copy.written_bytes"), (1 << 20) + (1 << 19));
  const auto copies = lane(result, "copy");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_GE(copies[1].start, copies[0].end);
}

TEST(ForeignTrace, ThreadsThatReadNothingFromDiskAreHostThreads) {
  TraceBuilder builder;
  builder.buffer(1, 1 << 20);
  builder.on_thread(3).transfer(1, 1 << 20, true, {1});
  const Result result = run(builder);
  EXPECT_TRUE(lane(result, "reader").empty());
  EXPECT_FALSE(lane(result, "host").empty());
}

}  // namespace
}  // namespace fm::test
