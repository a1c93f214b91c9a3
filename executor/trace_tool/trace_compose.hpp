#pragma once
// `fmtrace compose`: the trace of a plan that was never run, from launches that were.

#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/trace_file.hpp"

namespace fm {

/// Access programs come from the sources by key (program_key); contents of index tensors too. The
/// host program is what fmexec would do for this plan (host_program); the device, the time to make
/// a context and to load a program are those of the first source. Throws UserError listing the
/// launches whose programs no source has: `fmexec --record` records them.
Trace compose_trace(const Plan& plan, const std::vector<Trace>& sources);

}  // namespace fm
