#pragma once
// fmsim's subcommands. A new one is a file of this folder and a line in command.cpp.

#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

struct Command {
  const char* name;
  const char* summary;  ///< one line of fmsim --help
  /// `argv[0]` is the command's name. Throws UserError for wrong usage.
  ExitStatus (*run)(int argc, const char* const* argv);
};

/// In the order of the help; the first is the default.
const std::vector<Command>& commands();

/// The lines of the help that name them.
std::string list_of_commands();

/// Runs the command that `argv[1]` names; the default one when it is an option or absent.
ExitStatus run_command(int argc, const char* const* argv);

// The commands, each in the file of its name.
ExitStatus run_replay(int argc, const char* const* argv);
ExitStatus run_reuse(int argc, const char* const* argv);
ExitStatus run_dram(int argc, const char* const* argv);
ExitStatus run_microbench(int argc, const char* const* argv);

}  // namespace fm
