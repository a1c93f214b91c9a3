#pragma once
// Recording one kernel launch: an access program that gives every access of every work-group.

#include "core/trace.pb.h"
#include "executor/opencl_objects.hpp"
#include "executor/program_cache.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace fm {

/// Runs the logging build for chosen groups, fits every expression, checks the result against other
/// groups until all accesses of a round of them are equal. What no formula explains is kept as
/// recorded, for all groups. The program's groups_fitted, groups_checked (compared access by
/// access, those fitted on included) and groups_total say how much was seen. Throws UserError for a
/// kernel that cannot be recorded (control flow outside the macros; more than 2^26 unexplained
/// values) and DeviceError.
trace::AccessProgram record_accesses(const OpenClContext& context, ProgramCache& cache,
                                     const RecordingKernel& kernel, const IndexBuffers& index = {});

}  // namespace fm
