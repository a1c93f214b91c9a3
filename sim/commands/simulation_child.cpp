#include "sim/commands/simulation_child.hpp"

#include <csignal>
#include <fstream>

namespace fm {

namespace fs = std::filesystem;

ChildProcess child_process(const SimulationChild& child, const fs::path& folder,
                           const std::vector<GivenOption>& given,
                           const std::set<std::string>& own) {
  ChildProcess process;
  // A value after '=' may begin with dashes.
  process.arguments = {"--config=" + child.config, "--trace=" + child.trace, "--json",
                       "--output=" + (folder / (child.name + ".json")).string()};
  for (const GivenOption& option : given) {
    if (own.count(option.name) != 0) continue;
    process.arguments.insert(process.arguments.end(), option.words.begin(), option.words.end());
  }
  for (const std::string& setting : child.settings) process.arguments.push_back("--set=" + setting);
  process.output_file = (folder / (child.name + ".txt")).string();
  process.error_file = (folder / (child.name + ".error")).string();
  return process;
}

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

ExitStatus exit_status_of(int status) {
  if (status >= 0 && status <= 4) return static_cast<ExitStatus>(status);
  for (const int from_outside : {SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGXCPU}) {
    if (status == 128 + from_outside) return ExitStatus::device_failed;
  }
  return ExitStatus::internal_fault;
}

}  // namespace fm
