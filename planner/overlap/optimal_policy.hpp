#pragma once
// Policy `optimal` on plans: chooses preload set, ring, and the timed schedule for them.

#include <optional>
#include <vector>

#include "planner/overlap/optimal.hpp"
#include "planner/overlap/overlap_report.hpp"
#include "planner/overlap/plan_problem.hpp"

namespace fm {

struct OverlapRequest {
  std::optional<Bytes> budget;   ///< of everything resident; none: what the fastest needs
  bool minimize_memory = false;  ///< else latency
  /// Latency is from when programs begin to load, so that each costs; else from when all are
  /// loaded.
  bool programs_count = true;
  double slowdown = 0;     ///< minimize_memory: over the fastest within the budget
  std::size_t pareto = 0;  ///< at least 2: plans along the front, instead of one
  std::uint64_t runs = 1;  ///< runs of one process; preloaded weights stay for all of them
  double seconds = 10;     ///< of each timed problem's solver
};

struct OverlapPlan {
  Plan plan;
  OverlapReport report;
  /// By kernel: when it is predicted to end, from when programs are loaded. lc-opg: empty.
  std::vector<Nanoseconds> finish;
};

/// `model`'s plan with the best residency, reads, copies and streams found, dependencies and claims
/// set; without a budget the fastest, in the least memory that keeps it within 1 %. pareto:
/// several, from the least memory to the fastest. Throws UserError when the budget is below the
/// least that any setting needs, saying what holds it.
std::vector<OverlapPlan> plan_optimal(const OverlapModel& model, const DeviceCosts& costs,
                                      const OverlapRequest& request);

}  // namespace fm
