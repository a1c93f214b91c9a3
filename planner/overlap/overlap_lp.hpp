#pragma once
// The linear relaxation of the overlap problem: a lower bound, and what to round.

#include <optional>
#include <vector>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

/// Enough that the bound is near that of single launches, few enough for a fraction of a second.
constexpr std::size_t relaxed_groups = 320;

struct LpSolution {
  double latency = 0;               ///< nanoseconds: no schedule within the budget is faster
  std::vector<double> transformed;  ///< y_k: image bytes transformed when launch k ends
  std::vector<double> streamed;     ///< x_k: of them inside launch k
};

/// Solves, over launch starts and ends, the read pointer at both (in disk time, where the disk has
/// rate 1 whatever the sizes of the weights), the bytes transformed and the bytes streamed in each
/// launch, by convex piecewise linear slowdown:
///
///   pointer rises by at most the time passed and stays below the caps of the budget;
///   transformed <= images among what is read, >= what the launch needs;
///   what is transformed and not streamed costs copy time between the launches.
///
/// Images among what is read is a piecewise linear function of disk time; its upper concave
/// envelope over the pointer's window at each launch stands for it, and a copy costs the least any
/// weight of the window costs by the byte, so the value is a bound. Networks of more launches than
/// `groups` are solved in as many groups of launches, each with the sum of its slowdowns: only what
/// holds at its ends is asked for, so that the value is a bound too; what a group streams is shared
/// out to its launches afterwards. Coin-OR Clp solves it. Empty when `seconds` pass first. Throws
/// std::invalid_argument when the budget is below minimum_budget().
std::optional<LpSolution> solve_overlap_lp(const TimedProblem& problem, double seconds,
                                           std::size_t groups = relaxed_groups);

}  // namespace fm
