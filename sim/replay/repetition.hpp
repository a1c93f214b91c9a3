#pragma once
// fmsim --repeat: what of a host program is done again in a process that is already warm.

#include "core/trace_file.hpp"

namespace fm {

/// The host program of a later run in the same process: the context, its programs and all objects
/// that the first run never released are still there, and so are preloaded weights; reads and
/// copies that only filled those are mere waits. Streamed weights are read again.
Trace warm_repetition(const Trace& trace);

}  // namespace fm
