#include "sim/commands/against.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/atomic_file.hpp"
#include "core/progress_bar.hpp"
#include "core/yaml_value.hpp"
#include "sim/commands/assumed_numbers.hpp"
#include "sim/commands/child_processes.hpp"
#include "sim/commands/config_options.hpp"
#include "sim/commands/scratch_folder.hpp"
#include "sim/commands/simulation_child.hpp"
#include "sim/stats/result_difference.hpp"

namespace fm {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t corners = 8;  // pairs of runs with assumed numbers moved
constexpr std::size_t longest = 10;   // launches and counters in the table

/// Runs in pairs: what it is held against, then what is asked about.
std::vector<SimulationChild> runs_of(const ReplayOptions& options) {
  const DeviceConfig against = load_config(options.against, {});
  const DeviceConfig now =
      load_scaled_config(options.config, options.settings, options.scales_capacities());
  std::vector<SimulationChild> runs{{options.against, options.trace, "against", {}},
                                    {options.config, options.trace, "now", options.settings}};
  if (options.assumed_within.empty()) return runs;
  const double share = parse_quantity(options.assumed_within, QuantityKind::ratio,
                                      {"--assumed-within " + options.assumed_within});
  const std::set<std::string> kept = set_paths(options.settings);
  for (std::uint32_t corner = 0; corner < corners; ++corner) {
    const std::string number = "." + std::to_string(corner);
    runs.push_back({options.against, options.trace, "against" + number,
                    moved_assumptions(against, share, corner, kept)});
    std::vector<std::string> settings = options.settings;
    for (std::string& moved : moved_assumptions(now, share, corner, kept)) {
      settings.push_back(std::move(moved));
    }
    runs.push_back({options.config, options.trace, "now" + number, settings});
  }
  return runs;
}

/// Throws what a failed run said, as this process's own failure.
[[noreturn]] void fail(const SimulationChild& run, int status, const fs::path& scratch) {
  const std::string said = run.name + ": " + error_line(scratch / (run.name + ".error"), status);
  if (exit_status_of(status) == ExitStatus::user_error) throw UserError(said);
  throw DeviceError(said);
}

void simulate_all(const std::vector<SimulationChild>& runs, const ReplayOptions& options,
                  const fs::path& scratch) {
  static const std::set<std::string> own{"config", "trace", "jobs",    "output",
                                         "json",   "set",   "against", "assumed-within"};
  std::vector<ChildProcess> children;
  children.reserve(runs.size());
  for (const SimulationChild& run : runs) {
    children.push_back(child_process(run, scratch, options.given, own));
  }
  std::vector<int> status(runs.size(), 0);
  ProgressBar bar("runs");
  std::size_t ended = 0;
  run_children(children, options.jobs, [&](std::size_t child, int code) {
    status[child] = code;
    bar.show(++ended, runs.size());
  });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (status[i] != 0) fail(runs[i], status[i], scratch);
  }
}

ResultDifference difference_of_runs(const SimulationChild& against, const SimulationChild& now,
                                    const fs::path& scratch) {
  const auto result = [&](const SimulationChild& run) {
    return nlohmann::json::parse(read_text_file((scratch / (run.name + ".json")).string()));
  };
  return difference_of(result(against), result(now));
}

std::string title_of(const ReplayOptions& options) {
  std::string now = options.config;
  for (const std::string& setting : options.settings) now += " " + setting;
  return "Against " + options.against + ", now " + now + "; " + options.trace + "\n";
}

void note_signs(const ResultDifference& difference, const ReplayOptions& options) {
  std::size_t unknown = 0;
  for (const Difference& one : difference.headline) unknown += one.sign_known ? 0 : 1;
  if (unknown == 0) return;
  std::cerr << "fmsim: note: sign?: with assumed numbers moved by " << options.assumed_within
            << " the difference has the other sign in at least one of " << corners << " runs\n";
}

ExitStatus compare(const ReplayOptions& options) {
  const std::vector<SimulationChild> runs = runs_of(options);
  AtomicFile output(options.output);
  const ScratchFolder scratch(temporary_folder());
  simulate_all(runs, options, scratch.path());
  ResultDifference difference = difference_of_runs(runs[0], runs[1], scratch.path());
  std::vector<ResultDifference> moved;
  for (std::size_t i = 2; i < runs.size(); i += 2) {
    moved.push_back(difference_of_runs(runs[i], runs[i + 1], scratch.path()));
  }
  mark_unknown_signs(&difference, moved);
  output.stream() << (options.json ? difference_json(difference).dump(2) + "\n"
                                   : title_of(options) + difference_text(difference, longest));
  output.commit();
  note_signs(difference, options);
  return ExitStatus::done;
}

}  // namespace

ExitStatus run_against(const ReplayOptions& options) {
  return unless_interrupted([&] { return compare(options); });
}

}  // namespace fm
