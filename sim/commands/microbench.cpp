// fmsim microbench: the microbenchmarks as one would run them on the phone.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/microbench_label.hpp"
#include "core/progress_bar.hpp"
#include "core/trace_file.hpp"
#include "core/version.hpp"
#include "sim/commands/command.hpp"
#include "sim/commands/config_options.hpp"
#include "sim/commands/option_table.hpp"
#include "sim/microbench/microbench_report.hpp"
#include "sim/replay/simulation.hpp"

namespace fm {
namespace {

namespace fs = std::filesystem;

struct MicrobenchOptions {
  std::string config;
  std::vector<std::string> settings, only, at;
  std::string traces;
  bool json = false;
  std::string output = "-";
  bool help = false, version = false;
};

using Row = OptionRow<MicrobenchOptions>;

const std::vector<Row>& rows() {
  static const std::vector<Row> rows{
      {"config", "NAME|FILE", "device config: a file, or a name in configs/",
       &MicrobenchOptions::config},
      {"set", "PATH=VALUE", "replace a config value; may be repeated",
       &MicrobenchOptions::settings},
      {"only", "NAME", "run only this microbenchmark; may be repeated", &MicrobenchOptions::only},
      {"at", "AXIS=VALUE", "run only the points there, e.g. footprint=1048576; may be repeated",
       &MicrobenchOptions::at},
      {"traces", "DIR", "where the traces are (default: traces/microbench)",
       &MicrobenchOptions::traces},
      {"json", "", "write all points as JSON", &MicrobenchOptions::json},
      {"output,o", "FILE", "where to; - is standard output", &MicrobenchOptions::output},
      {"help,h", "", "this text", &MicrobenchOptions::help},
      {"version", "", "the version", &MicrobenchOptions::version},
  };
  return rows;
}

std::string help() {
  MicrobenchOptions options;
  std::ostringstream text;
  text << "usage: fmsim microbench --config NAME|FILE [--set PATH=VALUE ...] [--only NAME ...] "
          "[--json] [-o FILE]\n\n"
       << "Replays the recorded microbenchmarks on a simulated phone, each a run of its own.\n\n"
       << describe("Options", rows(), &options) << "\nExample:\n"
       << "  fmsim microbench --config adreno-750 --only pointer_chase_image\n";
  return text.str();
}

fs::path traces_folder(const std::string& wanted) {
  std::error_code error;
  if (!wanted.empty()) {
    if (fs::is_directory(wanted, error)) return wanted;
    throw UserError("--traces " + wanted + ": there is no such folder");
  }
  for (const fs::path folder :
       {"traces/microbench", FM_SOURCE_TRACES "/microbench", FM_INSTALL_TRACES "/microbench"}) {
    if (fs::is_directory(folder, error)) return folder;
  }
  throw UserError(
      "no traces/microbench here; record them with `fmexec microbench --record DIR` and give "
      "--traces DIR");
}

/// Where points must lie; every condition counts.
AxisConditions conditions_of(const std::vector<std::string>& at) {
  AxisConditions conditions;
  for (const std::string& word : at) {
    MicrobenchLabel label;
    try {
      label = microbench_label_from(word + " work=1 unit=ns/hop");
    } catch (const UserError&) {
    }
    if (label.axes.size() != 1) {
      throw UserError("--at " + word + ": write axis=number, e.g. footprint=1048576");
    }
    conditions.push_back(label.axes.front());
  }
  return conditions;
}

/// Names of the folder's traces, sorted, or those asked for, each once.
std::vector<std::string> names_of(const fs::path& folder, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem().string());
  }
  if (error) throw UserError({folder.string()}, "cannot be read: " + error.message());
  if (names.empty()) throw UserError({folder.string()}, "has no traces (*.trace)");
  std::sort(names.begin(), names.end());
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UserError("--only " + name + ": " + accepted_words(name, names));
    }
  }
  if (only.empty()) return names;
  std::vector<std::string> wanted;
  for (const std::string& name : only) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  }
  return wanted;
}

/// A selection that selects nothing is a mistake.
void check_measured(const std::vector<MicrobenchCurve>& curves, const fs::path& folder,
                    const MicrobenchOptions& options) {
  if (!curves.empty()) return;
  if (options.at.empty())
    throw UserError({folder.string()}, "no trace there is a microbenchmark's");
  std::string conditions;
  for (const std::string& at : options.at) conditions += " --at " + at;
  throw UserError("no point lies" + conditions +
                  ": without --at all points are printed with their axes");
}

MicrobenchCurve measure(const DeviceConfig& config, const fs::path& folder, const std::string& name,
                        const AxisConditions& conditions) {
  const std::string file = (folder / (name + ".trace")).string();
  Trace trace = read_trace(file);
  keep_points(conditions, &trace);
  SimulationOptions options;
  options.trace_file = file;
  const Result result = [&] {
    try {
      return simulate(config, trace, options);
    } catch (const UserError& error) {
      throw UserError({file}, error.what());
    }
  }();
  for (const ResultCheck& check : result.checks) {
    if (check.holds()) continue;
    throw std::logic_error(name + ": a conservation law is broken: " + check.law + ": " +
                           std::to_string(check.left) + " and " + std::to_string(check.right));
  }
  return curve_of(name, result, config.hertz("gpu.clock"));
}

}  // namespace

ExitStatus run_microbench(int argc, const char* const* argv) {
  MicrobenchOptions options;
  parse_options(argc, argv, describe("Options", rows(), &options), "fmsim microbench");
  if (options.help || options.version) {
    std::cout << (options.help ? help() : std::string("fmsim ") + version + "\n");
    return ExitStatus::done;
  }
  if (options.config.empty()) throw UserError("--config is missing; see fmsim microbench --help");
  const DeviceConfig config = load_config(options.config, options.settings);
  const fs::path folder = traces_folder(options.traces);
  const std::vector<std::string> names = names_of(folder, options.only);
  const auto conditions = conditions_of(options.at);
  for (const std::string& name : names) {
    check_output(options.output, options.config, (folder / (name + ".trace")).string());
  }
  AtomicFile output(options.output);
  ProgressBar bar("simulating");
  std::vector<MicrobenchCurve> curves;
  for (const std::string& name : names) {
    bar.show(curves.size(), names.size());
    curves.push_back(measure(config, folder, name, conditions));
    if (curves.back().points.empty()) curves.pop_back();
  }
  check_measured(curves, folder, options);
  if (options.json) {
    output.stream() << microbench_json(config, curves);
  } else {
    for (const MicrobenchCurve& curve : curves) output.stream() << text_of(curve) << "\n";
  }
  output.commit();
  return ExitStatus::done;
}

}  // namespace fm
