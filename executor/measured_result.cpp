// result.json of a measured run.
#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <map>
#include <set>

#include "core/version.hpp"
#include "executor/driver_quirks.hpp"
#include "executor/run_report.hpp"

namespace fm {
namespace {

std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string facts_yaml(const std::map<std::string, std::string>& facts) {
  std::string text = "device:\n";
  for (const auto& [name, value] : facts) text += "  " + name + ": " + quoted(value) + "\n";
  return text;
}

std::vector<TimelineEvent> timeline_of(const std::vector<trace::HostOperation>& operations) {
  std::vector<TimelineEvent> timeline;
  for (const trace::HostOperation& operation : operations) {
    TimelineEvent event;
    if (operation.has_launch()) {
      event.lane = "gpu";
      event.name = operation.launch().launch() + " " + operation.launch().operation();
    } else if (operation.has_copy()) {
      event.lane = "copy";
      event.name = operation.copy().launch().empty() ? "preload" : operation.copy().launch();
    } else if (operation.has_disk_read()) {
      event.lane = "disk";
      event.name = operation.disk_read().weight();
    } else if (operation.has_think()) {
      event.lane = "host";
      event.name = operation.think().phase() == trace::Think::CONTEXT    ? "context"
                   : operation.think().phase() == trace::Think::PROGRAMS ? "programs"
                                                                         : "host";
    } else {
      continue;
    }
    event.start = Nanoseconds(operation.measured().started());
    event.end = Nanoseconds(operation.measured().ended());
    timeline.push_back(event);
  }
  return timeline;
}

std::vector<ResultLaunch> launches_of(const Plan& plan, const RunTimes& run, std::uint64_t began) {
  std::map<std::string, Bytes> unused;
  for (const WeightSlice& slice : plan.weights) unused[slice.tensor] = slice.bytes;
  std::vector<ResultLaunch> launches;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const PlanLaunch& launch = plan.launches[i];
    ResultLaunch result;
    result.id = launch.id;
    result.kernel = launch.kernel;
    result.operation = launch.operation;
    result.model = launch.model;
    result.macs = launch.macs;
    result.start = Nanoseconds(run.launches[i].started - run.began + began);
    result.end = Nanoseconds(run.launches[i].ended - run.began + began);
    for (const LaunchArgument& argument : launch.arguments) {
      const auto* tensor = std::get_if<TensorArgument>(&argument);
      if (!tensor) continue;
      const auto weight = unused.find(tensor->tensor);
      if (weight == unused.end()) continue;
      result.weight_bytes += weight->second;
      unused.erase(weight);
    }
    launches.push_back(result);
  }
  return launches;
}

std::map<std::string, ResultCounter> counters_of(const Measurement& measured) {
  const auto bytes = [](Bytes value, const std::string& description) {
    return ResultCounter{static_cast<double>(value.count()), "bytes", description};
  };
  std::uint64_t least = UINT64_MAX;
  for (const RunTimes& run : measured.runs) least = std::min(least, execution_ns(run));
  return {
      {"process.peak_resident",
       bytes(measured.process.peak_resident, "peak resident set of the process (VmHWM)")},
      {"process.anonymous", bytes(measured.process.resident_anonymous,
                                  "resident anonymous memory after the runs (RssAnon)")},
      {"process.file",
       bytes(measured.process.resident_file, "resident pages of files after the runs (RssFile)")},
      {"process.swapped", bytes(measured.process.swapped, "swapped out after the runs (VmSwap)")},
      {"disk.read", bytes(measured.bytes_read, "bytes of weights read by all runs")},
      {"runs.count", {static_cast<double>(measured.runs.size()), "runs", "measured runs"}},
      {"runs.least_exec",
       {static_cast<double>(least), "ns", "shortest execution time of the measured runs"}},
      {"programs.loaded",
       {static_cast<double>(measured.programs), "programs", "distinct OpenCL programs"}},
      {"programs.built",
       {static_cast<double>(measured.programs_built), "programs", "of them built from source"}},
      {"programs.fallbacks",
       {static_cast<double>(measured.fallbacks.size()), "programs",
        "of them refused by the compiler as planned and built with plainer options"}},
      {"runs.slices",
       {static_cast<double>(measured.runs.back().slices), "slices",
        "of launches that the launch cap split, in the last run"}},
      {"driver.drm_bytes",
       {static_cast<double>(measured.driver.drm.count()), "bytes",
        "held by DRM drivers for this process, at the end (fdinfo)"}},
      {"driver.mapped_bytes",
       {static_cast<double>(measured.driver.mapped.count()), "bytes",
        "address space of the GPU's device files, at the end (kgsl, mali, ..)"}},
      {"driver.dma_buf_bytes",
       {static_cast<double>(measured.driver.dma_buf.count()), "bytes",
        "shared buffers held by file descriptor, at the end"}},
      {"runs.host_timed",
       {static_cast<double>(measured.host_timed), "commands",
        "launches and copies timed by the host's clock, since the driver gave no times"}},
  };
}

}  // namespace

std::map<std::string, std::string> run_facts(const Measurement& measured) {
  std::map<std::string, std::string> facts = measured.device.facts();
  std::set<std::string> kernels;
  for (const BuildFallback& fallback : measured.fallbacks) kernels.insert(fallback.kernel);
  if (!kernels.empty()) facts["kernel_fallbacks"] = boost::algorithm::join(kernels, " ");
  std::set<std::string> quirks;
  for (const DriverQuirk& quirk : quirks_of(measured.device)) quirks.insert(quirk.name);
  if (!quirks.empty()) facts["driver_quirks"] = boost::algorithm::join(quirks, " ");
  if (measured.host_timed > 0) facts["launch_clock"] = "host";
  return facts;
}

Result make_result(const Plan& plan, const Measurement& measured,
                   const std::vector<trace::HostOperation>& operations) {
  Result result;
  result.tool = std::string("fmexec ") + version;
  result.config_yaml = facts_yaml(run_facts(measured));
  result.memory = measured.memory;
  result.timeline = timeline_of(operations);
  result.launches = launches_of(plan, median_run(measured.runs), measured.first.began);
  result.models = models_of(result);
  result.counters = counters_of(measured);
  std::uint64_t first_start = UINT64_MAX;
  for (const LaunchTimes& launch : measured.first.launches) {
    first_start = std::min(first_start, launch.started);
  }
  result.latency.startup = Nanoseconds(measured.startup_ns);
  result.latency.init = Nanoseconds(measured.first.launches.empty() ? 0 : first_start);
  result.latency.exec = Nanoseconds(execution_ns(median_run(measured.runs)));
  result.latency.integrated = result.latency.init + result.latency.exec;
  return result;
}

}  // namespace fm
