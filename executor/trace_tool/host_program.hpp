#pragma once
// What fmexec's host does for a plan, without running it: the same operations with the same causes.

#include <cstdint>
#include <vector>

#include "core/plan.hpp"
#include "core/trace.pb.h"

namespace fm {

/// Host times that a plan does not determine.
struct HostTimes {
  std::uint64_t context_ns = 0;
  std::uint64_t program_ns = 0;  ///< to load one program
};

/// Operations of preparing (context, pools, preloads, programs), writing inputs, and one run.
/// Access programs are not set in its launches. The order between threads is one of those possible:
/// the reader goes on as far as the ring has room. Throws UserError where fmexec would refuse the
/// plan's transforms.
std::vector<trace::HostOperation> host_program(const Plan& plan, const HostTimes& times);

}  // namespace fm
