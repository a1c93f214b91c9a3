// The microbenchmarks' recordings: right about every access, and those in traces/ up to date.
#include <gtest/gtest.h>

#include <filesystem>

#include "executor/recorder/microbench_trace.hpp"
#include "kernels/microbench_suite.hpp"
#include "paths.hpp"
#include "tests/recorder/recorded_device.hpp"

namespace fm {
namespace {

std::string committed(const std::string& name) {
  return std::string(FM_TRACES) + "/microbench/" + name + ".trace";
}

TEST(MicrobenchRecording, HasATraceForEveryBenchmarkAndNoOther) {
  std::set<std::string> names;
  for (const Microbench& bench : microbench_suite()) names.insert(bench.name);
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(FM_TRACES) + "/microbench")) {
    if (entry.path().extension() != ".trace") continue;
    EXPECT_EQ(names.erase(entry.path().stem().string()), 1u) << entry.path();
  }
  EXPECT_TRUE(names.empty()) << *names.begin() << " is not recorded";
}

/// One launch of every kernel of the suite: every access of every work-item.
TEST(MicrobenchRecording, ExpandsToTheAccessesMade) {
  std::set<std::string> kernels;
  RecordedDevice& device = RecordedDevice::get();
  for (const Microbench& bench : microbench_suite()) {
    for (const PlanLaunch& launch : bench.plan.launches) {
      if (launch.id.find("part=brief") == std::string::npos) continue;
      std::string kind = launch.kernel;
      for (const auto& [name, value] : launch.parameters) kind += " " + value;
      if (!kernels.insert(kind).second) continue;
      const RecordingKernel kernel = recording_kernel(bench.plan, launch);
      const trace::AccessProgram program =
          record_accesses(device.context, device.cache, kernel, {});
      EXPECT_EQ(program.tables_size(), 0) << kind;
      EXPECT_GT(expect_equal_over_all_groups(program, kernel, {}), 0u) << kind;
    }
  }
  EXPECT_GE(kernels.size(), 10u);
}

/// What a program accesses, without its register counts and its key, which change with the
/// catalogue's estimates and with any word of the source.
std::string accesses_of(trace::AccessProgram program) {
  program.clear_key();
  program.clear_registers();
  program.clear_registers_source();
  return program.SerializeAsString();
}

TEST(MicrobenchRecording, CommittedTracesAreWhatIsRecordedNow) {
  RecordedDevice& device = RecordedDevice::get();
  for (const Microbench& bench : microbench_suite()) {
    if (bench.name != "block_walk_image" && bench.name != "launch_latency" &&
        bench.name != "copy_to_image" && bench.name != "disk_read") {
      continue;
    }
    ProgramRecorder programs(device.context, device.cache);
    const Trace now = record_microbench(bench, programs, {});
    const Trace then = read_trace(committed(bench.name));
    ASSERT_EQ(now.programs.size(), then.programs.size()) << bench.name;
    for (std::size_t i = 0; i < now.programs.size(); ++i) {
      EXPECT_EQ(accesses_of(now.programs[i]), accesses_of(then.programs[i]))
          << bench.name << ": record it again (traces/README.md)";
    }
    ASSERT_EQ(now.operations.size(), then.operations.size()) << bench.name;
    for (std::size_t i = 0; i < now.operations.size(); ++i) {
      EXPECT_EQ(now.operations[i].SerializeAsString(), then.operations[i].SerializeAsString());
    }
  }
}

}  // namespace
}  // namespace fm
