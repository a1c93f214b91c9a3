#pragma once
// One question: what does a change of the device do?

#include "core/diagnostics.hpp"
#include "sim/commands/replay_options.hpp"

namespace fm {

/// Simulates options.trace on options.against and on options.config with its settings, side by side
/// with --jobs, and prints the difference (--json: as JSON). With options.assumed_within both are
/// simulated again with their assumed numbers moved, together and at random; a difference whose
/// sign changes with them is flagged. Throws UserError; returns the worst exit status of the runs.
ExitStatus run_against(const ReplayOptions& options);

}  // namespace fm
