// What the host's part of a run costs: allocation, release, disk requests, copies; and streaming
// kernels' registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/replay/launch_binder.hpp"
#include "tests/sim/replay_bench.hpp"

namespace fm {
namespace {

using test::config_with;
using test::counter;
using test::lane;
using test::launch;
using test::run;
using test::TraceBuilder;

constexpr std::uint64_t kib = 1024, mib = 1024 * 1024;

TEST(HostSide, CreatingAnObjectCostsItsPages) {
  TraceBuilder trace;
  trace.buffer(1, mib);
  const Result result =
      run(trace, config_with({{"allocator.base_cost", "7 us"}, {"allocator.page_cost", "1 us"}}));
  EXPECT_EQ(result.latency.integrated.count(), 7'000u + 256 * 1'000);
  EXPECT_EQ(counter(result, "host.allocated_pages"), 256);
  EXPECT_EQ(counter(result, "host.busy_time"), 263e6);
  EXPECT_EQ(counter(result, "host.zeroed_bytes"), 0);
}

TEST(HostSide, NewPagesAreZeroedThroughMemory) {
  TraceBuilder trace;
  trace.buffer(1, 32 * mib);
  const Result result = run(trace, config_with({{"allocator.zero_pages", "true"},
                                                {"allocator.zeroing_bandwidth", "1 GB/s"}}));
  EXPECT_EQ(counter(result, "host.zeroed_bytes"), 32 * mib);
  EXPECT_EQ(result.latency.integrated.count(), 32 * mib) << "1 ns a byte: memory is faster";
  EXPECT_EQ(counter(result, "slc.host_lookups"), 32 * mib / 64);
  // All but what the system-level cache still holds went to DRAM.
  EXPECT_GE(counter(result, "dram.host_write_bursts") * 32, 24 * mib);
}

TEST(HostSide, EachDiskRequestCostsTheCpu) {
  const auto time = [](const char* cost) {
    TraceBuilder trace;
    trace.buffer(1, mib);
    trace.read(1, mib, {}, 64 * kib);
    return run(trace, config_with({{"host.disk_request_cpu", cost}})).latency.integrated.count();
  };
  EXPECT_EQ(time("5 us") - time("0 us"), 16 * 5'000u);
}

TEST(HostSide, ScatteredRangesWaitForTheDiskTogether) {
  const auto time = [](bool together, const char* latency) {
    TraceBuilder trace;
    trace.buffer(1, mib);
    if (together) {
      trace.read_scattered(1, 8, 2 * kib, 64 * kib);
    } else {
      for (std::uint64_t i = 0; i < 8; ++i)
        trace.read(1, 2 * kib, {}, 2 * kib, false, i * 64 * kib);
    }
    const Result result =
        run(trace,
            config_with({{"storage.command_latency", latency}, {"host.disk_request_cpu", "0 us"}}));
    EXPECT_EQ(counter(result, "storage.requests"), 8);
    EXPECT_EQ(counter(result, "storage.read_bytes"), 16 * kib);
    EXPECT_EQ(counter(result, "slc.host_lookups"), 2 * 16 * kib / 64);
    return result.latency.integrated.count();
  };
  EXPECT_EQ(time(true, "100 us") - time(true, "0 us"), 100'000u);
  EXPECT_EQ(time(false, "100 us") - time(false, "0 us"), 800'000u);
}

TEST(HostSide, TheCpuAsksForEachScatteredRange) {
  const auto time = [](const char* cost) {
    TraceBuilder trace;
    trace.buffer(1, mib);
    trace.read_scattered(1, 8, 2 * kib, 64 * kib);
    return run(trace,
               config_with({{"host.disk_request_cpu", cost}, {"storage.command_latency", "0 us"}}))
        .latency.integrated.count();
  };
  // Slower than the disk: the last is asked for when all before it arrived.
  EXPECT_EQ(time("200 us") - time("100 us"), 8 * 100'000u);
}

TEST(HostSide, ABufferedReadsCopyMovesItsBytesTwice) {
  TraceBuilder trace;
  trace.buffer(1, mib);
  trace.read(1, mib, {}, mib, false);
  const Result result = run(trace);
  EXPECT_EQ(counter(result, "slc.host_lookups"), 2 * mib / 64);
}

/// Resident bytes over time, in pages of 64 KiB.
std::vector<std::pair<std::uint64_t, std::uint64_t>> residency(const Result& result) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> samples;
  for (const MemorySample& sample : result.memory.over_time) {
    samples.emplace_back(sample.time.count(), sample.claims.total().count() / (64 * kib));
  }
  return samples;
}

using Samples = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(HostSide, ReleasedMemoryComesBackWhenTheDriverSaysSo) {
  const auto of = [](const char* policy) {
    TraceBuilder trace;
    trace.buffer(1, 64 * kib);
    trace.release(1);
    trace.buffer(2, 128 * kib);
    trace.think(trace::Think::CONTEXT, 1);
    trace.buffer(3, 64 * kib);
    return run(trace, config_with({{"allocator.release", policy},
                                   {"allocator.release_delay", "3 ms"},
                                   {"host.context_creation", "10 ms"}}));
  };
  const Result at_once = of("immediate");
  EXPECT_EQ(residency(at_once), (Samples{{0, 2}, {10'000'000, 3}}));
  EXPECT_EQ(at_once.memory.peak.count(), 192 * kib);
  const Result delayed = of("delayed");
  EXPECT_EQ(residency(delayed), (Samples{{0, 3}, {3'000'000, 2}, {10'000'000, 3}}));
  EXPECT_EQ(delayed.memory.average.count(), (3 * 3 + 2 * 7) * 64 * kib / 10);
  EXPECT_EQ(residency(of("when_idle")), (Samples{{0, 2}, {10'000'000, 3}})) << "nothing runs";
}

TEST(HostSide, WhenIdleMeansAfterTheLastCommand) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  trace.buffer(1, 64 * kib);
  trace.buffer(2, 64 * kib);
  trace.buffer(3, 64 * kib);
  trace.launch("L0", program, {1, 2});
  trace.release(3);
  trace.launch("L1", program, {1, 2});
  trace.think(trace::Think::CONTEXT, 1);
  const Result result = run(
      trace, config_with({{"allocator.release", "when_idle"}, {"host.context_creation", "10 ms"}}));
  EXPECT_EQ(residency(result), (Samples{{0, 3}, {launch(result, "L1").end.count(), 2}}));
}

TEST(HostSide, MemoryGivenBackAfterTheRunIsNoPartOfIt) {
  TraceBuilder trace;
  trace.buffer(1, 64 * kib);
  trace.think(trace::Think::CONTEXT, 1);
  trace.release(1);
  const Result result = run(
      trace, config_with({{"allocator.release", "delayed"}, {"host.context_creation", "4 ms"}}));
  EXPECT_EQ(residency(result), (Samples{{0, 1}}));
  EXPECT_EQ(result.memory.average.count(), 64 * kib);
  EXPECT_EQ(result.latency.integrated.count(), 4'000'000u);
}

/// Every class, its peak and the average of a trace made by hand, to the byte and nanosecond.
TEST(HostSide, ResidencyByClassIntegrates) {
  TraceBuilder trace;
  trace.think(trace::Think::PROGRAMS, 1, 1);  // until 1 ms
  trace.buffer(1, 4 * kib, trace::PRELOADED);
  trace.buffer(2, 16 * kib, trace::STAGING);
  trace.think(trace::Think::PROGRAMS, 1, 2);  // until 3 ms
  trace.change_class(2, trace::STAGING, trace::UM_IN_FLIGHT, 8 * kib);
  trace.image(3, 16, 64);  // 16 x 64 texels of 8 B: no padding
  trace.buffer(4, 4 * kib, trace::DRIVER);
  trace.think(trace::Think::PROGRAMS, 1, 1);  // until 4 ms
  trace.change_class(2, trace::UM_IN_FLIGHT, trace::STAGING, 8 * kib);
  trace.release(3);
  trace.think(trace::Think::PROGRAMS, 1, 4);  // until 8 ms
  const Result result = run(trace, config_with({{"host.program_load", "1 ms"}}));
  const ResultMemory& memory = result.memory;
  ASSERT_EQ(memory.over_time.size(), 3u);
  EXPECT_EQ(memory.over_time[0].time.count(), 1'000'000u);
  EXPECT_EQ(memory.over_time[1].claims.um_in_flight.count(), 8 * kib);
  EXPECT_EQ(memory.over_time[1].claims.staging.count(), 8 * kib);
  EXPECT_EQ(memory.over_time[1].claims.tm_in_flight.count(), 8 * kib);
  EXPECT_EQ(memory.over_time[1].driver.count(), 4 * kib);
  EXPECT_EQ(memory.over_time[2].time.count(), 4'000'000u);
  EXPECT_EQ(memory.over_time[2].claims.tm_in_flight.count(), 0u);
  EXPECT_EQ(memory.peak.count(), 32 * kib);
  EXPECT_EQ(memory.peak_by_class.staging.count(), 16 * kib);
  EXPECT_EQ(memory.peak_by_class.um_in_flight.count(), 8 * kib);
  EXPECT_EQ(memory.average.count(), (0 * 1 + 20 * 2 + 32 * 1 + 24 * 4) * kib / 8);
}

TEST(HostSide, AStreamingKernelTakesMoreRegisters) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  auto counted = trace.trace().programs.front();
  counted.set_registers_source("compiled: the streaming variant");
  const auto streaming_program = trace.add_program(counted);
  trace.buffer(1, 64 * kib);
  trace.launch("plain", program, {1, 1});
  trace.launch("streams", program, {1, 1});
  trace.launch("counted", streaming_program, {1, 1});
  trace.launch("copy", program, {1, 1});

  Plan plan;
  for (const char* id : {"plain", "streams", "counted", "copy"}) {
    PlanLaunch given;
    given.id = id;
    given.kind = given.id == "copy" ? LaunchKind::copy : LaunchKind::kernel;
    plan.launches.push_back(given);
  }
  WeightSlice slice;
  slice.transforms = {{"streams", 0, 1}, {"counted", 1, 1}, {"copy", 2, 1}};
  plan.weights.push_back(slice);

  const DeviceConfig config = config_with({{"gpu.streaming_registers", "9"}});
  DeviceHeap heap(config);
  heap.create(trace.trace().operations[0].create(), Picoseconds(0));
  LaunchBinder binder(config, trace.trace(), 16, false, heap, plan);
  const auto registers = [&](std::size_t i) {
    return binder.bind(trace.trace().operations[i].launch()).registers;
  };
  EXPECT_EQ(registers(2), registers(1) + 9);
  EXPECT_EQ(registers(3), registers(1));
  EXPECT_EQ(registers(4), registers(1));
}

}  // namespace
}  // namespace fm
