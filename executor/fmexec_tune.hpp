#pragma once
// `fmexec tune`: measures the tiles that a plan's launches may take, for `fmplan --tiles`.

#include "core/diagnostics.hpp"

namespace fm {

/// `argv[0]` is the word "tune". Throws UserError and DeviceError.
ExitStatus fmexec_tune(int argc, const char* const* argv);

}  // namespace fm
