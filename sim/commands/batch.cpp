#include "sim/commands/batch.hpp"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
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

/// A folder of the batch's own, for results that nobody asked to keep.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "fmsim_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw DeviceError(pattern + ": cannot be created");
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
  const fs::path probe = fs::path(path) / ".fmsim-probe";
  if (!std::ofstream(probe)) throw UserError({path}, "is no folder that can be written to");
  fs::remove(probe, error);
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
  child.arguments = {"--config", run.config,  "--trace", run.trace,
                     "--json",   "--summary", "-o",      (folder / (run.name + ".json")).string()};
  for (const GivenOption& option : given) {
    if (of_the_batch.count(option.name) != 0) continue;
    child.arguments.insert(child.arguments.end(), option.words.begin(), option.words.end());
  }
  child.output_file = (folder / (run.name + ".txt")).string();
  child.error_file = (folder / (run.name + ".error")).string();
  return child;
}

std::string error_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line, last;
  // Notes come first, the error last.
  while (std::getline(file, line)) {
    if (line.rfind("fmsim: error: ", 0) == 0) return line.substr(std::string("fmsim: ").size());
    if (!line.empty()) last = line;
  }
  return last;
}

int severity(int status) {
  const std::vector<int> rising{0, 2, 3, 4, 1};
  const auto place = std::find(rising.begin(), rising.end(), status);
  return static_cast<int>(place - rising.begin());
}

std::string table_row(const Run& run, const fs::path& result) {
  const auto json = nlohmann::json::parse(read_text_file(result.string()));
  const auto& latency = json.at("latency");
  const auto text = [](const nlohmann::json& nanoseconds) {
    return text_of(Nanoseconds(nanoseconds.get<std::uint64_t>()));
  };
  std::ostringstream row;
  row << std::left << std::setw(34) << run.name << std::right << std::setw(11)
      << text(latency.at("integrated_ns")) << std::setw(11) << text(latency.at("exec_ns"))
      << std::setw(11) << text_of(Bytes(json.at("memory").at("peak_bytes").get<std::uint64_t>()))
      << std::setw(11)
      << text_with_prefix(json.at("energy").at("total_nj").get<double>() * 1e-9, "J");
  return row.str();
}

void print_table(const std::vector<Run>& runs, const std::vector<int>& statuses,
                 const fs::path& folder) {
  std::cout << std::left << std::setw(34) << "run" << std::right << std::setw(11) << "integrated"
            << std::setw(11) << "execution" << std::setw(11) << "memory" << std::setw(11)
            << "energy"
            << "\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (statuses[i] == 0) {
      std::cout << table_row(runs[i], folder / (runs[i].name + ".json")) << "\n";
    } else {
      std::cout << std::left << std::setw(34) << runs[i].name << "failed (" << statuses[i]
                << "): " << error_line(folder / (runs[i].name + ".error")) << "\n";
    }
  }
}

/// What the user asked for stays: results as JSON or text, and an error file only of a failed run.
void keep_asked_for(const ReplayOptions& options, const std::vector<Run>& runs,
                    const std::vector<int>& statuses, const fs::path& folder) {
  std::error_code ignored;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool failed = statuses[i] != 0;
    const auto remove = [&](const char* extension) {
      fs::remove(folder / (runs[i].name + extension), ignored);
    };
    if (!failed) remove(".error");
    // Broken laws are exit status 1 with a result to look at.
    if (options.json || failed) remove(".txt");
    if (!options.json) remove(".json");
  }
}

}  // namespace

ExitStatus run_batch(const ReplayOptions& options) {
  const bool kept = options.output != "-";
  std::optional<ScratchFolder> scratch;
  if (kept) {
    make_folder(options.output);
  } else {
    scratch.emplace();
  }
  const fs::path folder = kept ? fs::path(options.output) : scratch->path();
  const std::vector<Run> runs = product(options);
  std::vector<ChildProcess> children;
  for (const Run& run : runs) children.push_back(child_of(run, folder, options.given));
  std::vector<int> statuses;
  {
    ProgressBar bar("runs");
    statuses = run_children(children, options.jobs,
                            [&](std::size_t ended) { bar.show(ended, runs.size()); });
  }
  print_table(runs, statuses, folder);
  if (kept) keep_asked_for(options, runs, statuses, folder);
  int worst = 0;
  for (const int status : statuses) {
    if (severity(status) > severity(worst)) worst = status;
  }
  // A child that a signal ended is our own fault too.
  return worst > 4 ? ExitStatus::internal_fault : static_cast<ExitStatus>(worst);
}

}  // namespace fm
