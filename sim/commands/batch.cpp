#include "sim/commands/batch.hpp"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/progress_bar.hpp"
#include "core/yaml_value.hpp"
#include "sim/commands/child_processes.hpp"
#include "sim/commands/scratch_folder.hpp"
#include "sim/commands/simulation_child.hpp"
#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) {
    throw UserError({path}, "is a file: several runs need -o FOLDER");
  }
  if (!fs::create_directories(path, error) && error) {
    throw UserError({path}, "cannot be created: " + error.message());
  }
}

/// Every config with every trace; names are made unique by a number.
std::vector<SimulationChild> product(const ReplayOptions& options) {
  std::vector<SimulationChild> runs;
  std::set<std::string> names;
  for (const std::string& config : options.configs) {
    for (const std::string& trace : options.traces) {
      const std::string stem = fs::path(config).extension() == ".yaml"
                                   ? fs::path(config).stem().string()
                                   : fs::path(config).filename().string();
      const std::string base = stem + "." + fs::path(trace).stem().string();
      std::string name = base;
      for (int number = 2; !names.insert(name).second; ++number)
        name = base + "." + std::to_string(number);
      runs.push_back({config, trace, name, {}});
    }
  }
  return runs;
}

std::ptrdiff_t severity(ExitStatus status) {
  static const std::vector<ExitStatus> rising{
      ExitStatus::done, ExitStatus::user_error, ExitStatus::device_failed,
      ExitStatus::verification_differs, ExitStatus::internal_fault};
  return std::find(rising.begin(), rising.end(), status) - rising.begin();
}

std::string table_row(const std::string& name, const fs::path& result) {
  const auto json = nlohmann::json::parse(read_text_file(result.string()));
  const auto& latency = json.at("latency");
  const auto text = [](const nlohmann::json& nanoseconds) {
    return text_of(Nanoseconds(nanoseconds.get<std::uint64_t>()));
  };
  std::ostringstream row;
  row << std::left << std::setw(34) << name << std::right << std::setw(11)
      << text(latency.at("integrated_ns")) << std::setw(11) << text(latency.at("exec_ns"))
      << std::setw(11) << text_of(Bytes(json.at("memory").at("peak_bytes").get<std::uint64_t>()))
      << std::setw(11)
      << text_with_prefix(json.at("energy").at("total_nj").get<double>() * 1e-9, "J");
  return row.str();
}

/// What is said of a run that ended.
struct Outcome {
  ExitStatus status = ExitStatus::done;
  std::string row;    ///< of the table
  std::string error;  ///< of a failed run
};

Outcome outcome_of(const SimulationChild& run, int status, const fs::path& scratch) {
  Outcome outcome;
  outcome.status = exit_status_of(status);
  if (status == 0) {
    outcome.row = table_row(run.name, scratch / (run.name + ".json"));
    return outcome;
  }
  outcome.error = error_line(scratch / (run.name + ".error"), status);
  std::ostringstream row;
  row << std::left << std::setw(34) << run.name << "failed (" << status
      << "): error: " << outcome.error;
  outcome.row = row.str();
  return outcome;
}

/// What the user asked for appears, whole: results as JSON or text, and an error file only of a
/// failed run.
void keep_asked_for(const ReplayOptions& options, const SimulationChild& run, bool failed,
                    const fs::path& scratch) {
  const auto keep = [&](const std::string& file) {
    std::error_code error;
    if (!fs::exists(scratch / file, error)) return;
    fs::rename(scratch / file, fs::path(options.output) / file, error);
    if (error) throw DeviceError(file + ": cannot be moved to its place: " + error.message());
  };
  std::error_code ignored;
  if (failed) keep(run.name + ".error");
  if (!failed) fs::remove(fs::path(options.output) / (run.name + ".error"), ignored);
  // Broken laws are exit status 1 with a result to look at.
  if (options.json) keep(run.name + ".json");
  if (!options.json && !failed) keep(run.name + ".txt");
}

/// The table to standard output, what failed to standard error too. Returns the worst status.
ExitStatus report(const std::vector<SimulationChild>& runs, const std::vector<Outcome>& outcomes) {
  std::cout << std::left << std::setw(34) << "run" << std::right << std::setw(11) << "integrated"
            << std::setw(11) << "execution" << std::setw(11) << "memory" << std::setw(11)
            << "energy"
            << "\n";
  for (const Outcome& outcome : outcomes) std::cout << outcome.row << "\n";
  std::cout.flush();
  ExitStatus worst = ExitStatus::done;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (outcomes[i].status == ExitStatus::done) continue;
    std::cerr << "fmsim: error: " << runs[i].name << ": " << outcomes[i].error << "\n";
    if (severity(outcomes[i].status) > severity(worst)) worst = outcomes[i].status;
  }
  return worst;
}

ExitStatus run_all(const ReplayOptions& options) {
  const bool kept = options.output != "-";
  if (kept) make_folder(options.output);
  const ScratchFolder scratch(kept ? options.output : temporary_folder());
  const std::vector<SimulationChild> runs = product(options);
  std::vector<ChildProcess> children;
  children.reserve(runs.size());
  static const std::set<std::string> own{"config", "trace", "jobs", "output", "json", "summary"};
  const std::string summary = options.summary.empty() ? "brief" : options.summary;
  for (const SimulationChild& run : runs) {
    children.push_back(child_process(run, scratch.path(), options.given, own));
    children.back().arguments.push_back("--summary=" + summary);
  }
  std::vector<Outcome> outcomes(runs.size());
  {
    ProgressBar bar("runs");
    std::size_t ended = 0;
    run_children(children, options.jobs, [&](std::size_t child, int status) {
      outcomes[child] = outcome_of(runs[child], status, scratch.path());
      if (kept) keep_asked_for(options, runs[child], status != 0, scratch.path());
      bar.show(++ended, runs.size());
    });
  }
  return report(runs, outcomes);
}

}  // namespace

ExitStatus run_batch(const ReplayOptions& options) {
  return unless_interrupted([&] { return run_all(options); });
}

}  // namespace fm
