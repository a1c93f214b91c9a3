#pragma once
// Policy `lc-opg` on plans: the paper's problem, solved, and written into a plan.

#include "planner/overlap/lc_opg.hpp"
#include "planner/overlap/optimal_policy.hpp"
#include "planner/overlap/plan_problem.hpp"

namespace fm {

struct LcOpgRequest {
  double lambda = 0.9;      ///< FlashMem section 3.2
  Bytes m_peak{500000000};  ///< FlashMem section 3.2
  /// x_{w,l} as copy launches before launch l instead of inside it: the schedule without rewritten
  /// kernels.
  bool copies = false;
};

/// Layers are the plan's kernels, their capacities in chunks; weights are those in images.
LcOpgProblem lc_opg_problem(const OverlapModel& model, const LcOpgRequest& terms);

/// Solves lc_opg_problem(); weights that are not in it are preloaded, for the paper's problem is
/// about moves to texture memory. z_w becomes earliest_launch, x_{w,l} streams in kernels, or
/// copies where a launch has more pieces than its kernel has slots. Of `request` budget and seconds
/// count. Throws UserError when the plan does not fit the budget, of which the paper knows nothing.
OverlapPlan plan_lc_opg(const OverlapModel& model, const DeviceCosts& costs,
                        const LcOpgRequest& terms, const OverlapRequest& request);

/// Throws UserError when a plan of plan_lc_opg() holds more than report.budget.
void check_budget(const OverlapPlan& planned);

}  // namespace fm
