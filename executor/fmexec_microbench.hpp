#pragma once
// `fmexec microbench`: records the microbenchmarks for fmsim.

#include "core/diagnostics.hpp"

namespace fm {

/// `argv[0]` is the word "microbench". Throws UserError and DeviceError.
ExitStatus fmexec_microbench(int argc, const char* const* argv);

}  // namespace fm
