#pragma once
// The command line of fmprobe.

#include "core/diagnostics.hpp"

namespace fm {

/// Measures; or `analyse` and `compare` files of raw data. Throws UserError and DeviceError.
ExitStatus fmprobe(int argc, const char* const* argv);

}  // namespace fm
