// The host program made from a plan against the one fmexec logs when it runs that plan.
#include "executor/trace_tool/host_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/diagnostics.hpp"
#include "executor/plan_executor.hpp"
#include "executor/recorder/run_trace.hpp"
#include "executor/trace_tool/trace_check.hpp"
#include "executor/trace_tool/trace_compose.hpp"
#include "tests/executor/small_network.hpp"
#include "tests/recorder/recorded_device.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;
using Operations = std::vector<trace::HostOperation>;

Operations executed(const SmallNetwork& network) {
  const test::TemporaryFolder folder;
  network.write_weights(folder.file("w.fmw"));
  const WeightsIndex index = open_weights_for(network.plan(), folder.file("w.fmw"));
  PlanExecutor executor(network.plan(), index, folder.file("w.fmw"), select_device(""), {{}, ""});
  const PlanTensor& x = network.plan().tensor("x");
  executor.write_input(x, std::vector<std::uint8_t>(x.bytes.count()));
  executor.run([](std::size_t, std::size_t) {});
  executor.recorder().stop_keeping();
  return executor.recorder().operations();
}

/// What does not depend on time: ids, causes and measurements are dropped, host think time too, and
/// who returns ring bytes, which is whoever sees a copy's end first.
std::vector<std::string> essence(const Operations& operations, std::uint32_t thread) {
  std::vector<std::string> lines;
  for (trace::HostOperation operation : operations) {
    if (operation.thread() != thread || operation.has_think()) continue;
    if (operation.has_change_class() && operation.change_class().to() == trace::STAGING) continue;
    operation.clear_id();
    operation.clear_thread();
    operation.clear_after();
    operation.clear_measured();
    // Direct reads depend on the file system as well.
    if (operation.has_disk_read()) operation.mutable_disk_read()->clear_direct();
    lines.push_back(operation.ShortDebugString());
  }
  return lines;
}

/// What the reader threads did, read by read: which of them takes one is up to time.
std::vector<std::string> reads(const Operations& operations) {
  std::vector<std::string> reads;
  for (std::uint32_t i = 0; i < reader_threads; ++i) {
    bool open = false;  // until its unmap; a copy may follow
    for (const std::string& line : essence(operations, reader_thread(i))) {
      const bool copy = line.find("copy {") == 0;
      if (!open && !copy) reads.emplace_back();
      reads.back() += line + "\n";
      open = !copy && line.find("unmap {") != 0;
    }
  }
  std::sort(reads.begin(), reads.end());
  return reads;
}

/// Kinds of the operations each launch and copy waits for.
std::vector<std::string> causes(const Operations& operations) {
  std::vector<std::string> lines;
  for (const trace::HostOperation& operation : operations) {
    if (!operation.has_launch() && !operation.has_copy()) continue;
    std::string line = operation.launch().launch() + operation.copy().launch() + " waits for";
    for (const std::uint64_t before : operation.after()) {
      const trace::HostOperation& cause = operations.at(before - 1);
      line += cause.has_launch()  ? " " + cause.launch().launch()
              : cause.has_copy()  ? " " + cause.copy().launch()
              : cause.has_unmap() ? " unmap"
                                  : " other";
    }
    lines.push_back(line);
  }
  return lines;
}

struct Case {
  Placement weights;
  bool stream;
  bool split_copies;
  std::uint64_t ring;
  int streams = 0;
  int ahead = 0;
};

class HostProgramTest : public testing::TestWithParam<Case> {
 protected:
  static NetworkOptions options() {
    NetworkOptions options;
    options.weights = GetParam().weights;
    options.stream = GetParam().stream;
    options.split_copies = GetParam().split_copies;
    options.ring = Bytes(GetParam().ring);
    options.streams = GetParam().streams;
    options.ahead = GetParam().ahead;
    return options;
  }
};

TEST_P(HostProgramTest, IsWhatTheExecutorDoes) {
  const SmallNetwork network(options());
  const Operations real = executed(network);
  const Operations made = host_program(network.plan(), {});
  EXPECT_EQ(essence(made, main_thread), essence(real, main_thread));
  EXPECT_EQ(reads(made), reads(real));
  EXPECT_EQ(causes(made), causes(real));
}

/// Else a replay could read into the ring before it is there.
TEST_P(HostProgramTest, RoomInTheRingHasACause) {
  const SmallNetwork network(options());
  for (const Operations& operations : {executed(network), host_program(network.plan(), {})}) {
    for (const trace::HostOperation& operation : operations) {
      if (!operation.has_change_class()) continue;
      EXPECT_GT(operation.after_size(), 0) << operation.ShortDebugString();
    }
  }
}

/// A replay has the readers' copies in an order of its own: before the ring goes, all must be over.
TEST_P(HostProgramTest, EveryCopyOfAReaderIsWaitedFor) {
  const SmallNetwork network(options());
  for (const Operations& operations : {executed(network), host_program(network.plan(), {})}) {
    std::set<std::uint64_t> copies, waited;
    for (const trace::HostOperation& operation : operations) {
      if (operation.has_copy() && operation.thread() != main_thread) copies.insert(operation.id());
      if (operation.has_wait()) waited.insert(operation.after().begin(), operation.after().end());
    }
    for (const std::uint64_t copy : copies) EXPECT_EQ(waited.count(copy), 1u) << copy;
  }
}

TEST_P(HostProgramTest, ComposesWhatRecordingWrites) {
  const SmallNetwork network(options());
  const Plan& plan = network.plan();
  const test::TemporaryFolder folder;
  RecordedDevice& device = RecordedDevice::get();
  ProgramRecorder programs(device.context, device.cache);
  const IndexSource no_indices = [](const PlanTensor&) -> std::vector<std::int32_t> { return {}; };
  write_run_trace(folder.file("r.trace"), trace_header("test", plan, {}, false), plan,
                  executed(network), programs, no_indices);
  const Trace recorded = read_trace(folder.file("r.trace"));
  write_trace(folder.file("c.trace"), compose_trace(plan, {recorded}));
  const Trace composed = read_trace(folder.file("c.trace"));
  ASSERT_EQ(composed.programs.size(), recorded.programs.size());
  for (const Trace* trace : {&recorded, &composed}) {
    CheckReport report;
    check_accesses(*trace, 4, &report);
    check_plan(*trace, plan, &report);
    EXPECT_THAT(report.differences, testing::IsEmpty());
    EXPECT_GT(report.accesses_expanded, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, HostProgramTest,
                         testing::Values(Case{Placement::buffer, false, false, 0},
                                         Case{Placement::buffer, true, false, 0},
                                         Case{Placement::image2d, false, false, 0},
                                         Case{Placement::image2d, true, false, 16384},
                                         Case{Placement::image2d, true, true, 8192},
                                         Case{Placement::image2d, true, false, 16384, 1},
                                         Case{Placement::image2d, true, true, 8192, 3},
                                         Case{Placement::buffer, true, false, 0, 0, 2},
                                         Case{Placement::image2d, true, true, 8192, 0, 1}));

TEST(Compose, SaysWhichLaunchesAreMissing) {
  const SmallNetwork network(NetworkOptions{});
  const Trace nothing;
  EXPECT_THAT([&] { compose_trace(network.plan(), {nothing}); },
              testing::ThrowsMessage<UserError>(testing::AllOf(
                  testing::HasSubstr("lack 2 access programs"), testing::HasSubstr("matmul"),
                  testing::HasSubstr("L0 L1 L2 L3"), testing::HasSubstr("fmexec --record"))));
}

TEST(Check, NoticesAnotherPlanAndAccessesOutsideTheirObjects) {
  const SmallNetwork network(NetworkOptions{});
  RecordedDevice& device = RecordedDevice::get();
  ProgramRecorder programs(device.context, device.cache);
  Trace trace;
  trace.operations = host_program(network.plan(), {});
  for (trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch()) continue;
    trace::Launch& launch = *operation.mutable_launch();
    launch.set_program(
        programs.record(network.plan(), network.plan().launch(launch.launch()), nullptr));
  }
  trace.programs = programs.programs();

  NetworkOptions other;
  other.width = 64;
  CheckReport report;
  check_plan(trace, SmallNetwork(other).plan(), &report);
  EXPECT_THAT(report.differences, testing::Contains(testing::HasSubstr("launch L0 was recorded")));
  EXPECT_THAT(report.differences, testing::Contains(testing::HasSubstr("weight w0")));

  CheckReport sound, reaching;
  check_accesses(trace, 4, &sound);
  EXPECT_THAT(sound.differences, testing::IsEmpty());
  trace.programs[0].mutable_sites(0)->mutable_x()->set_constant(1 << 30);
  check_accesses(trace, 4, &reaching);
  EXPECT_THAT(reaching.differences, testing::Contains(testing::HasSubstr("launch L0: argument")));
}

}  // namespace
}  // namespace fm
