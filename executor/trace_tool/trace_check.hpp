#pragma once
// `fmtrace check`: is a trace sound, and is it the trace of a plan?

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/trace_file.hpp"

namespace fm {

struct CheckReport {
  std::uint64_t groups_expanded = 0;
  std::uint64_t accesses_expanded = 0;
  std::uint64_t undescribed_launches = 0;  ///< of other programs' kernels: nothing to expand
  std::vector<std::string> differences;    ///< what is wrong, a line each; at most some
};

/// Expands work-groups of every access program (corners, the middle and up to `groups` others,
/// fewer where a group is large) item by item and in waves: both must give the same accesses, and
/// what they reach must lie inside the objects that the launches bind.
void check_accesses(const Trace& trace, std::uint64_t groups, CheckReport* report);

/// The trace's launches and copies are the plan's, in its order, with the access programs of its
/// keys; streamed bytes read from disk are the plan's.
void check_plan(const Trace& trace, const Plan& plan, CheckReport* report);

}  // namespace fm
