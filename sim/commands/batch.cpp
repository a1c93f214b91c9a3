#include "sim/commands/batch.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/progress_bar.hpp"
#include "core/yaml_value.hpp"
#include "sim/commands/child_processes.hpp"
#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

namespace fs = std::filesystem;

struct Run {
  std::string config, trace;
  std::string name;  ///< of its files: "mali-g715.vit"
};

/// A folder of the batch's own, where runs write what is not whole yet; gone with the batch.
class ScratchFolder {
 public:
  /// Within `parent`. Throws UserError when that is no folder that can be written to.
  explicit ScratchFolder(const std::string& parent) {
    std::string pattern = (fs::path(parent) / ".fmsim_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw UserError({parent},
                      std::string("is no folder that can be written to: ") + std::strerror(errno));
    }
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void make_folder(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) {
    throw UserError({path}, "is a file: several runs need -o FOLDER");
  }
  if (!fs::create_directories(path, error) && error) {
    throw UserError({path}, "cannot be created: " + error.message());
  }
}

std::string temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder.string();
  const char* named = std::getenv("TMPDIR");
  throw UserError(std::string("TMPDIR") + (named == nullptr ? "" : std::string(" ") + named) +
                  ": no folder for temporary files: " + error.message() + "; give -o FOLDER");
}

/// Every config with every trace; names are made unique by a number.
std::vector<Run> product(const ReplayOptions& options) {
  std::vector<Run> runs;
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
      runs.push_back({config, trace, name});
    }
  }
  return runs;
}

ChildProcess child_of(const Run& run, const fs::path& folder,
                      const std::vector<GivenOption>& given) {
  static const std::set<std::string> of_the_batch{"config", "trace", "jobs",
                                                  "output", "json",  "summary"};
  ChildProcess child;
  // A value after '=' may begin with dashes.
  child.arguments = {"--config=" + run.config, "--trace=" + run.trace, "--json", "--summary",
                     "--output=" + (folder / (run.name + ".json")).string()};
  for (const GivenOption& option : given) {
    if (of_the_batch.count(option.name) != 0) continue;
    child.arguments.insert(child.arguments.end(), option.words.begin(), option.words.end());
  }
  child.output_file = (folder / (run.name + ".txt")).string();
  child.error_file = (folder / (run.name + ".error")).string();
  return child;
}

/// What a failed run said last, without the tool's name.
std::string error_line(const fs::path& path, int status) {
  std::ifstream file(path);
  std::string line, last;
  // Notes come first, the error last.
  while (std::getline(file, line)) {
    if (line.rfind("fmsim: error: ", 0) == 0)
      return line.substr(std::string("fmsim: error: ").size());
    if (!line.empty()) last = line;
  }
  if (!last.empty()) return last;
  return status > 128 ? "ended by signal " + std::to_string(status - 128) : "no message";
}

/// A child that was ended from outside (by the user, or for its memory) is not our fault, one that
/// crashed is.
ExitStatus exit_status_of(int status) {
  if (status >= 0 && status <= 4) return static_cast<ExitStatus>(status);
  for (const int from_outside : {SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGXCPU}) {
    if (status == 128 + from_outside) return ExitStatus::device_failed;
  }
  return ExitStatus::internal_fault;
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

Outcome outcome_of(const Run& run, int status, const fs::path& scratch) {
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
void keep_asked_for(const ReplayOptions& options, const Run& run, bool failed,
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
ExitStatus report(const std::vector<Run>& runs, const std::vector<Outcome>& outcomes) {
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
  const std::vector<Run> runs = product(options);
  std::vector<ChildProcess> children;
  for (const Run& run : runs) children.push_back(child_of(run, scratch.path(), options.given));
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
  try {
    return run_all(options);
  } catch (const Interruption& interruption) {
    end_by(interruption);
  }
}

}  // namespace fm
