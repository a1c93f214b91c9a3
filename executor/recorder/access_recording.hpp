#pragma once
// From the logs of a launch's work-groups to its access program.

#include "core/trace.pb.h"
#include "executor/recorder/group_log.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace fm {

enum class Groups {
  chosen,  ///< compared are chosen ones, until a round of them holds no surprise
  all      ///< every group is compared
};

/// Fits every expression on some groups, checks the result against others, access by access, and
/// keeps as recorded, for all groups, what no formula explains. The program's groups_fitted,
/// groups_checked (those fitted on included) and groups_total say how much was seen. Throws
/// UserError for logs without a common structure, and for more than 2^26 unexplained values.
trace::AccessProgram record_accesses(const RecordingKernel& kernel, GroupSource& groups,
                                     Groups seen);

}  // namespace fm
