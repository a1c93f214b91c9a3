#pragma once
// Several independent simulations: every config with every trace, each in a process of its own.

#include "core/diagnostics.hpp"
#include "sim/commands/replay_options.hpp"

namespace fm {

/// Runs the product of options.configs and options.traces, options.jobs at a time; all other
/// options are handed on to every run. With -o DIR each run leaves DIR/CONFIG.TRACE.json (or .txt
/// without --json) as soon as it is done; a failed run leaves DIR/CONFIG.TRACE.error instead.
/// Prints a table of all runs, and what failed to standard error. Returns the worst exit status: 1
/// before 4, 3, 2 and 0. When a signal ends it, runs under way leave nothing. Throws UserError for
/// a folder that cannot be written to.
ExitStatus run_batch(const ReplayOptions& options);

}  // namespace fm
