#pragma once
// One simulation of several, in a child process.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/diagnostics.hpp"
#include "sim/commands/child_processes.hpp"
#include "sim/commands/option_table.hpp"

namespace fm {

struct SimulationChild {
  std::string config, trace;
  std::string name;                   ///< of its files: "mali-g715.vit"
  std::vector<std::string> settings;  ///< PATH=VALUE, beside those among the options handed on
};

/// Writes NAME.json, what it prints to NAME.txt, what it says to NAME.error, in `folder`. The
/// options in `given` are handed on, but those named in `own`.
ChildProcess child_process(const SimulationChild& child, const std::filesystem::path& folder,
                           const std::vector<GivenOption>& given, const std::set<std::string>& own);

/// What a failed child said last in its .error file, without the tool's name.
std::string error_line(const std::filesystem::path& path, int status);

/// A child that was ended from outside (by the user, or for its memory) is not our fault, one that
/// crashed is.
ExitStatus exit_status_of(int status);

}  // namespace fm
