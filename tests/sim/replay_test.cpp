#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/diagnostics.hpp"
#include "tests/sim/replay_bench.hpp"

namespace fm {
namespace {

using test::config_with;
using test::lane;
using test::launch;
using test::run;
using test::TraceBuilder;
using testing::HasSubstr;

constexpr std::uint64_t kib = 1024, mib = 1024 * 1024;

/// Weights of two launches: the first preloaded, the second streamed while the first runs.
TraceBuilder streamed() {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  trace.think(trace::Think::CONTEXT, 1);
  trace.think(trace::Think::PROGRAMS, 1, 2);
  const auto first = trace.buffer(1, 64 * kib, trace::PRELOADED);
  const auto second = trace.buffer(2, mib, trace::UM_IN_FLIGHT);
  trace.buffer(3, 64 * kib);
  const auto read_first = trace.on_thread(1).read(1, 64 * kib, {first});
  const auto read_second = trace.read(2, mib, {second});
  trace.on_thread(0).wait({read_first});
  trace.launch("L0", program, {1, 3}, {}, 100);
  const auto last = trace.launch("L1", program, {2, 3}, {read_second}, 200);
  trace.wait({last});
  return trace;
}

TEST(Replay, LaunchesWaitForTheirCauses) {
  const Result result = run(streamed());
  ASSERT_EQ(result.launches.size(), 2u);
  const auto reads = lane(result, "disk");
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_GE(launch(result, "L0").start, reads[0].end);
  EXPECT_GE(launch(result, "L1").start, reads[1].end);
  EXPECT_LT(launch(result, "L0").end, reads[1].end) << "the stream should overlap the first launch";
  EXPECT_EQ(launch(result, "L1").bound, "disk");
  EXPECT_EQ(result.latency.init, launch(result, "L0").start);
  EXPECT_EQ(result.latency.init + result.latency.exec, result.latency.integrated);
  EXPECT_GE(result.latency.integrated, launch(result, "L1").end);
  EXPECT_EQ(launch(result, "L0").macs + launch(result, "L1").macs, 300u);
}

TEST(Replay, ASlowerDiskMovesWhatWaitsForItAndNothingElse) {
  const auto integrated = [](const std::string& latency) {
    return run(streamed(), config_with({{"storage.command_latency", latency}}))
        .latency.integrated.count();
  };
  const auto fast = integrated("100 us"), slow = integrated("5100 us");
  EXPECT_NEAR(static_cast<double>(slow - fast), 2 * 5e6, 1e5);  // two reads, one after the other

  TraceBuilder without_disk;
  const auto program = without_disk.add_copy_program(64, 64);
  without_disk.buffer(1, 64 * kib);
  without_disk.buffer(2, 64 * kib);
  without_disk.wait({without_disk.launch("L0", program, {1, 2})});
  EXPECT_EQ(
      run(without_disk, config_with({{"storage.command_latency", "100 us"}})).latency.integrated,
      run(without_disk, config_with({{"storage.command_latency", "5100 us"}})).latency.integrated);
}

TEST(Replay, HostOperationsBlockTheirThreadOnly) {
  TraceBuilder trace;
  const auto buffer = trace.buffer(1, mib, trace::STAGING);
  const auto read = trace.on_thread(1).read(1, mib, {buffer});
  trace.on_thread(0).buffer(2, 4 * kib);                 // the main thread goes on at once
  trace.buffer(3, 8 * kib, trace::ACTIVATIONS, {read});  // and waits here
  const Result result = run(trace);
  ASSERT_EQ(result.memory.over_time.size(), 2u);
  EXPECT_EQ(result.memory.over_time[0].time.count(), 0u);
  EXPECT_EQ(result.memory.over_time[0].claims.activations.count(), 4 * kib);
  EXPECT_EQ(result.memory.over_time[1].time, lane(result, "disk").at(0).end);
  EXPECT_EQ(result.memory.over_time[1].claims.activations.count(), 12 * kib);
  EXPECT_EQ(result.memory.over_time[1].claims.staging.count(), mib);
}

TEST(Replay, StartUpCostsAreTheConfigsAndOtherThinkingIsNotReplayed) {
  TraceBuilder trace;
  trace.think(trace::Think::CONTEXT, 123'456'789);
  trace.think(trace::Think::PROGRAMS, 987'654'321, 3);
  trace.think(trace::Think::OTHER, 555'555'555);
  const Result result =
      run(trace, config_with({{"host.context_creation", "7 ms"}, {"host.program_load", "2 ms"}}));
  EXPECT_EQ(result.latency.startup.count(), 13'000'000u);
  EXPECT_EQ(result.latency.integrated.count(), 13'000'000u);
}

TEST(Replay, MemoryFollowsCreationChangeOfClassAndRelease) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  trace.buffer(1, 64 * kib, trace::STAGING);
  trace.buffer(2, 64 * kib, trace::ACTIVATIONS);
  trace.change_class(1, trace::STAGING, trace::UM_IN_FLIGHT, 16 * kib);
  const auto last = trace.launch("L0", program, {1, 2});
  trace.release(1, {last});
  const Result result = run(trace);
  EXPECT_EQ(result.memory.peak.count(), 128 * kib);
  EXPECT_EQ(result.memory.peak_by_class.staging.count(), 64 * kib);
  EXPECT_EQ(result.memory.peak_by_class.um_in_flight.count(), 16 * kib);
  EXPECT_EQ(result.memory.over_time.back().time, launch(result, "L0").end);
  EXPECT_EQ(result.memory.over_time.back().claims.total().count(), 64 * kib);
}

/// A ring of one piece: the second read can have it as soon as the first copy is done, although the
/// main thread, which notes that, is still waiting for something else.
TEST(Replay, RingBytesReturnWhenTheirCopyIsDone) {
  TraceBuilder trace;
  const auto ring = trace.buffer(1, mib, trace::STAGING);
  trace.image(2, 256, 512);
  const auto slow = trace.buffer(3, 16 * mib);
  const auto slow_read = trace.on_thread(2).read(3, 16 * mib, {slow});
  trace.on_thread(1).change_class(1, trace::STAGING, trace::UM_IN_FLIGHT, mib, {ring});
  const auto first = trace.read(1, mib);
  const auto copied = trace.copy(1, 2, 0, 512, mib, 1, "", {first});
  trace.on_thread(0).wait({slow_read});
  trace.change_class(1, trace::UM_IN_FLIGHT, trace::STAGING, mib, {copied});
  trace.on_thread(1).change_class(1, trace::STAGING, trace::UM_IN_FLIGHT, mib, {copied});
  const Result result = run(trace);
  const auto& samples = result.memory.over_time;
  const Nanoseconds copy_end = lane(result, "copy").at(0).end;
  const auto at_copy_end =
      std::find_if(samples.begin(), samples.end(),
                   [&](const MemorySample& sample) { return sample.time == copy_end; });
  ASSERT_NE(at_copy_end, samples.end());
  EXPECT_LT(copy_end, lane(result, "disk").back().end);
  EXPECT_EQ(result.memory.peak_by_class.um_in_flight.count(), mib);
  EXPECT_EQ(samples.back().claims.um_in_flight.count(), mib);
}

TEST(Replay, OutOfMemoryIsTheUsersToSolve) {
  TraceBuilder trace;
  trace.buffer(1, 3 * mib, trace::PRELOADED);
  trace.buffer(2, 2 * mib, trace::ACTIVATIONS);
  const DeviceConfig config =
      config_with({{"limits.max_allocation", "4 MiB"}, {"limits.app_memory", "4 MiB"}});
  try {
    simulate(config, trace.trace());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("out of memory on mali-g715"));
    EXPECT_THAT(error.what(), HasSubstr("preloaded 3.00 MiB"));
  }
  run(trace);  // and the process can go on simulating
}

/// A copy and a launch that do not depend on each other, on two queues.
TraceBuilder copy_beside_launch() {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 512, 16, 4000);
  trace.buffer(1, mib, trace::UM_IN_FLIGHT);
  trace.image(2, 256, 512);
  trace.buffer(3, 512 * kib);
  trace.buffer(4, 512 * kib);
  const auto launched = trace.launch("L0", program, {3, 4});
  const auto copied = trace.copy(1, 2, 0, 512, mib, 1, "C0");
  trace.wait({launched, copied});
  return trace;
}

TEST(Replay, CopiesOverlapLaunchesOnlyWhereTheDeviceCan) {
  const auto times = [](const char* flag) {
    const Result result = run(
        copy_beside_launch(),
        config_with({{"queue.copy_overlaps_compute", flag}, {"host.enqueue_overhead", "3 us"}}));
    EXPECT_EQ(launch(result, "C0").kernel, "copy");
    EXPECT_EQ(result.counters.at("copy.read_bytes").value, mib);
    EXPECT_GE(result.counters.at("copy.written_bytes").value, mib);
    const ResultLaunch &kernel = launch(result, "L0"), &copy = launch(result, "C0");
    EXPECT_EQ(kernel.start.count(), 3000u);
    return std::make_pair(kernel, copy);
  };
  const auto [kernel, copy] = times("true");
  EXPECT_EQ(copy.start.count(), 6000u) << "a copy engine of its own begins when it is told";
  EXPECT_LT(copy.start, kernel.end);
  const auto [kernel_first, copy_after] = times("false");
  EXPECT_EQ(copy_after.start, kernel_first.end) << "one engine begins when the kernel is done";
  EXPECT_LE(kernel_first.end, kernel.end) << "and the kernel has the memory for itself";
}

TEST(Replay, PiecesOfOneCopyAreOneLaunch) {
  TraceBuilder trace;
  trace.buffer(1, mib, trace::UM_IN_FLIGHT);
  trace.image(2, 256, 512);
  const auto first = trace.copy(1, 2, 0, 256, mib / 2, 1, "C0");
  const auto second = trace.copy(1, 2, 256, 256, mib / 2, 1, "C0");
  trace.wait({first, second});
  const Result result = run(trace);
  ASSERT_EQ(result.launches.size(), 1u);
  const std::vector<TimelineEvent> pieces = lane(result, "copy");
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(result.launches[0].id, "C0");
  EXPECT_EQ(result.launches[0].start, pieces[0].start);
  EXPECT_EQ(result.launches[0].end, pieces[1].end);
}

TEST(Replay, ACopyWithoutItsCauseDoesNotHoldUpAnotherQueue) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  const auto buffer = trace.buffer(1, mib, trace::UM_IN_FLIGHT);
  trace.image(2, 256, 512);
  trace.buffer(3, 64 * kib);
  trace.buffer(4, 64 * kib);
  const auto read = trace.on_thread(1).read(1, mib, {buffer});
  const auto copied = trace.on_thread(0).copy(1, 2, 0, 512, mib, 1, "C0", {read});
  const auto launched = trace.launch("L0", program, {3, 4});
  trace.wait({launched, copied});
  const Result result = run(trace, config_with({{"queue.copy_overlaps_compute", "false"}}));
  EXPECT_LT(launch(result, "L0").end, lane(result, "disk").at(0).end);
  EXPECT_GE(launch(result, "C0").start, lane(result, "disk").at(0).end);
}

TEST(Replay, TransfersAndMapsTakeTheConfigsTime) {
  TraceBuilder trace;
  trace.buffer(1, mib);
  trace.map(1, mib);
  trace.transfer(1, mib, true);
  const Result result = run(trace, config_with({{"host.map_overhead", "50 us"},
                                                {"host.cache_maintenance_bandwidth", "1 GB/s"},
                                                {"host.transfer_bandwidth", "1 GB/s"}}));
  const auto host = lane(result, "host");
  ASSERT_EQ(host.size(), 2u);
  EXPECT_EQ((host[0].end - host[0].start).count(), 50'000u + 1'048'576u);
  EXPECT_NEAR(static_cast<double>((host[1].end - host[1].start).count()), 1'048'576, 5'000);
}

TEST(Replay, BufferedReadsAlsoCostTheCpuCopy) {
  const auto disk_time = [](bool direct) {
    TraceBuilder trace;
    trace.buffer(1, mib);
    trace.read(1, mib, {}, mib, direct);
    const Result result = run(trace, config_with({{"host.transfer_bandwidth", "1 GB/s"}}));
    const auto reads = lane(result, "disk");
    return static_cast<double>((reads.at(0).end - reads.at(0).start).count());
  };
  EXPECT_NEAR(disk_time(false) - disk_time(true), 1'048'576, 1'000);
}

TEST(Replay, AWeightCountsWithItsFirstUse) {
  TraceBuilder trace;
  const auto program = trace.add_copy_program(64, 64);
  const auto weight = trace.buffer(1, 64 * kib, trace::PRELOADED);
  trace.buffer(2, 64 * kib);
  const auto read = trace.read(1, 64 * kib, {weight});
  trace.launch("L0", program, {1, 2}, {read});
  trace.wait({trace.launch("L1", program, {1, 2})});
  const Result result = run(trace);
  EXPECT_EQ(launch(result, "L0").weight_bytes.count(), 64 * kib);
  EXPECT_EQ(launch(result, "L1").weight_bytes.count(), 0u);
}

TEST(Replay, AnEmptyTraceTakesNoTime) {
  const Result result = run(TraceBuilder());
  EXPECT_EQ(result.latency.integrated.count(), 0u);
  EXPECT_EQ(result.memory.peak.count(), 0u);
  EXPECT_TRUE(result.launches.empty());
}

TEST(Replay, SameInputsSameBytes) {
  const std::string first = to_json(run(streamed()));
  run(copy_beside_launch());
  EXPECT_EQ(to_json(run(streamed())), first);
}

TEST(Replay, ADeadlockNamesWhoWaitsForWhom) {
  TraceBuilder trace;
  trace.wait({2});  // of its own thread, behind it: no reader would accept this
  trace.buffer(1, kib);
  try {
    simulate(config_with(), trace.trace());
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cycle: thread 0 -> thread 0"));
    EXPECT_THAT(error.what(), HasSubstr("thread 0: operation 1 (wait), operation 2 missing"));
  }
}

TEST(Replay, MissingRegistersNameTheInstructionSet) {
  TraceBuilder trace;
  auto program = test::empty_program({64, 1, 1}, {1, 1, 1});
  program.clear_registers();
  const auto id = trace.add_program(program);
  trace.wait({trace.launch("L0", id, {})});
  try {
    simulate(config_with(), trace.trace());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("`valhall`"));
  }
}

}  // namespace
}  // namespace fm
