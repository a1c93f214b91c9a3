#pragma once
// What runs took, as text for people and as result.json for tools.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/result.hpp"
#include "executor/driver_memory.hpp"
#include "executor/host_recorder.hpp"
#include "executor/opencl_device.hpp"
#include "executor/plan_run.hpp"
#include "executor/process_memory.hpp"
#include "executor/program_cache.hpp"

namespace fm {

/// Everything measured on one plan.
struct Measurement {
  OpenClDevice device;
  std::uint64_t startup_ns = 0;  ///< context and programs
  RunTimes first;                ///< the run that the host log describes
  std::vector<RunTimes> runs;    ///< those that count; may begin with `first`
  ResultMemory memory;
  ProcessMemory process;
  DriverMemory driver;
  Bytes bytes_read;
  std::size_t programs = 0, programs_built = 0;
  std::vector<BuildFallback> fallbacks;
  /// Of all kernels and copies of all runs: see RunTimes::host_timed.
  std::size_t host_timed = 0;
};

/// Of the device, and what was special about these runs: kernels built with plainer options
/// (`kernel_fallbacks`), known faults of the driver (`driver_quirks`), launches timed by the host
/// (`launch_clock`).
std::map<std::string, std::string> run_facts(const Measurement& measured);

/// From the first launch's start to the last one's end.
std::uint64_t execution_ns(const RunTimes& run);
/// The run whose execution time is the median (the lower one of an even number).
const RunTimes& median_run(const std::vector<RunTimes>& runs);

/// Under the keys of core/result.hpp: `startup`, `init`, memory and timeline are of the first run,
/// launches and `exec` of the median one, moved to where the first run began.
Result make_result(const Plan& plan, const Measurement& measured,
                   const std::vector<trace::HostOperation>& operations);

/// Latency, time by kernel, memory by class and of the process.
std::string summary_text(const Plan& plan, const Measurement& measured);
/// One line a model of a queue; "" otherwise.
std::string models_text(const std::vector<ResultModel>& models);
/// One line a launch: kernel, operation, geometry, median time and GFLOP/s (two operations a
/// multiply-accumulate).
std::string profile_text(const Plan& plan, const Measurement& measured);

}  // namespace fm
