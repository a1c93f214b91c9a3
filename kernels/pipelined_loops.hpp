#pragma once
// The kernel template of FlashMem section 4.4, made of a kernel's own loop.

#include <string>

namespace fm {

/// Weights a launch can stream at most: slots of kernels/streaming.clh.
constexpr int most_streams = 4;

/// `source` with each FM_PIPELINED_FOR(i, end, step) { .. } FM_END_PIPELINED_FOR (streaming.clh)
/// written as a loop for each slot that loads the slot's next texel, computes and stores the texel;
/// then the loop that only computes; then what the loop had no iterations for. Without STREAMS the
/// preprocessor leaves the plain loop. Throws std::logic_error for a loop without an end.
std::string expand_pipelined_loops(const std::string& source);

}  // namespace fm
