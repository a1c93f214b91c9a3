#pragma once
// The policy `optimal` on the timed problem: schedules within a budget, and budgets within a
// slowdown.

#include <vector>

#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

struct OptimalLimits {
  double seconds = 10;  ///< of solving one problem; then the best so far
};

struct OptimalSolution {
  OverlapSchedule schedule;
  TimedRun run;                    ///< the exact run of `schedule`
  double lower_bound = 0;          ///< nanoseconds; no schedule within the budget is faster
  bool relaxation_solved = false;  ///< else the bound is the one without slowdowns
  double seconds = 0;              ///< spent

  /// latency / lower bound - 1
  double gap() const;
};

/// The shortest schedule found within problem.budget: the relaxation rounded to chunks, improved
/// chunk by chunk. Throws UserError naming minimum and launch when the budget is below
/// minimum_budget().
OptimalSolution solve_optimal(const TimedProblem& problem, const OptimalLimits& limits = {});

/// The least budget found, by bisection down to `resolution`, whose schedule is at most `slowdown`
/// (0.05: 5 %) longer than the shortest without a budget. problem.budget limits it from above.
struct BudgetedSolution {
  Bytes budget;
  OptimalSolution solution;
};
BudgetedSolution minimize_memory(const TimedProblem& problem, double slowdown, Bytes resolution,
                                 const OptimalLimits& limits = {});

/// At most `count` (at least 2) solutions, from the least budget to the fastest; each is faster
/// than those before it.
std::vector<BudgetedSolution> pareto_front(const TimedProblem& problem, std::size_t count,
                                           const OptimalLimits& limits = {});

}  // namespace fm
