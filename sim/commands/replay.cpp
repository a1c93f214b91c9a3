// fmsim replay: a trace on a simulated phone.
#include <boost/algorithm/string/join.hpp>
#include <chrono>
#include <iostream>
#include <optional>

#include "core/atomic_file.hpp"
#include "core/capacity_law.hpp"
#include "core/digest.hpp"
#include "core/plan.hpp"
#include "core/progress_bar.hpp"
#include "core/version.hpp"
#include "sim/commands/against.hpp"
#include "sim/commands/batch.hpp"
#include "sim/commands/command.hpp"
#include "sim/commands/config_options.hpp"
#include "sim/commands/replay_options.hpp"
#include "sim/replay/request_dump.hpp"
#include "sim/replay/simulation.hpp"
#include "sim/stats/summary.hpp"
#include "sim/stats/summary_wide.hpp"

namespace fm {
namespace {

using Clock = std::chrono::steady_clock;

/// A what-if worth knowing of: tiles, placements and streaming were chosen for another device.
void note_other_device(const DeviceConfig& config, const Trace& trace) {
  if (trace.header.plan_yaml().empty()) return;
  const Plan plan = parse_plan(trace.header.plan_yaml(), "the plan inside the trace");
  if (plan.config.empty() || plan.config == config.name()) return;
  std::cerr << "fmsim: note: the trace's plan was made for " << plan.config << ", not for "
            << config.name() << "\n";
}

/// A larger memory would cost more to reach.
void note_iso_latency(const ReplayOptions& options, const DeviceConfig& config) {
  if (options.scales_capacities() || options.settings.empty()) return;
  const std::set<std::string> given = set_paths(options.settings);
  for (const CapacityCosts& costs :
       changed_capacities(DeviceConfig::load(options.config), config)) {
    if (given.count(costs.latencies.front()) != 0) continue;
    std::cerr << "fmsim: note: iso-latency: " << costs.capacity << " changes, "
              << boost::algorithm::join(costs.paths(), ", ")
              << " stay; --capacities scaled scales them\n";
  }
}

std::string recording_device(const Trace& trace) {
  const auto name = trace.header.device().find("name");
  return name == trace.header.device().end() ? "the device it was recorded on" : name->second;
}

/// What of the run is not simulated, or was not recorded.
void note_foreign_launches(const Trace& trace) {
  std::size_t measured = 0, untimed = 0;
  for (const trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch() || operation.launch().program() != 0) continue;
    ++(operation.launch().kernel().timed() ? measured : untimed);
  }
  if (measured > 0) {
    std::cerr << "fmsim: note: " << measured
              << " launches have no access description: each takes the time it took on "
              << recording_device(trace) << ", not scaled\n";
  }
  if (untimed > 0) {
    std::cerr << "fmsim: note: " << untimed
              << " launches have neither access description nor measured time: each takes "
                 "host.launch_overhead\n";
  }
  for (const auto& [what, times] : trace.left_out) {
    std::cerr << "fmsim: note: not in the trace: " << what << " (" << times << ")\n";
  }
}

Picoseconds interval_of(const ReplayOptions& options) {
  if (options.interval.empty()) return Picoseconds(0);
  const SourceLocation where{"--interval " + options.interval};
  const double interval = parse_quantity(options.interval, QuantityKind::time, where);
  constexpr double nanosecond = 1e3, hour = 3600e12;
  if (interval < nanosecond || interval > hour) throw UserError(where, "needs 1 ns to 3600 s");
  return Picoseconds(static_cast<std::uint64_t>(interval));
}

Result simulate_trace(const DeviceConfig& config, const ReplayOptions& options) {
  SimulationOptions simulation;
  simulation.perfect = parse_perfect(options.perfect);
  std::optional<PortDump> dump;
  if (!options.dump_requests.empty()) {
    const std::string& written = options.dump_requests;
    check_output(written.substr(written.find('=') + 1), options.config, options.trace);
    dump.emplace(options.dump_requests);
    simulation.tap = dump->tap();
    simulation.tap_port = dump->port();
  }
  const Trace trace = read_trace(options.trace);
  ProgressBar bar("simulating");
  note_other_device(config, trace);
  note_foreign_launches(trace);
  simulation.trace_file = options.trace;
  simulation.trace_digest = digest_of_file(options.trace);
  simulation.interval = interval_of(options);
  if (options.sample == "auto") simulation.sampling = Sampling::automatic;
  simulation.launches = options.launches;
  simulation.warm = options.warm;
  simulation.repetitions = options.repeat;
  constexpr std::size_t steps = 1000;
  simulation.on_progress = [&bar](double share) {
    bar.show(static_cast<std::size_t>(share * steps), steps);
  };
  Result result = simulate(config, trace, simulation);
  if (dump) dump->finish();
  return result;
}

void write(AtomicFile* file, const std::string& text) {
  file->stream() << text;
  file->commit();
}

ExitStatus check_laws(const Result& result) {
  ExitStatus status = ExitStatus::done;
  for (const ResultCheck& check : result.checks) {
    if (check.holds()) continue;
    std::cerr << "fmsim: error: a conservation law is broken: " << check.law << ": "
              << std::to_string(check.left) << " and " << std::to_string(check.right) << "\n";
    status = ExitStatus::internal_fault;
  }
  return status;
}

}  // namespace

ExitStatus run_replay(int argc, const char* const* argv) {
  const ReplayOptions options = parse_replay_options(argc, argv);
  if (options.help || options.version) {
    std::cout << (options.help ? replay_help() : std::string("fmsim ") + version + "\n");
    return ExitStatus::done;
  }
  if (!options.against.empty()) return run_against(options);
  if (options.several()) return run_batch(options);
  const DeviceConfig config =
      load_scaled_config(options.config, options.settings, options.scales_capacities());
  note_iso_latency(options, config);
  for (const std::string& written : {options.output, options.chrome_trace}) {
    if (!written.empty()) check_output(written, options.config, options.trace);
  }
  // Opened first: a folder that does not exist is better known before minutes of simulation.
  AtomicFile output(options.output);
  std::optional<AtomicFile> chrome_trace;
  if (!options.chrome_trace.empty()) chrome_trace.emplace(options.chrome_trace);
  if (options.explain) return write(&output, explanation_of(config)), ExitStatus::done;
  const Clock::time_point start = Clock::now();
  const Result result = simulate_trace(config, options);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::string summary = summary_of(result, config, seconds);
  if (options.summary == "wide") summary += wide_summary_of(result, config);
  write(&output, options.json ? to_json(result) : summary);
  if (options.json && !options.summary.empty()) std::cout << summary;
  if (chrome_trace) write(&*chrome_trace, to_chrome_trace(result));
  return check_laws(result);
}

}  // namespace fm
