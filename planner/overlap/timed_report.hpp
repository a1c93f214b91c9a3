#pragma once
// What `fmplan solve` says about the schedule of a timed problem.

#include <string>

#include "planner/overlap/optimal.hpp"
#include "planner/overlap/timed_problem_file.hpp"

namespace fm {

/// A few lines for people: latency, lower bound, gap, floor, peak memory by class, seconds.
std::string timed_report(const NamedTimedProblem& named, const OptimalSolution& solution);
/// The same and, for every launch, when it runs and what is transformed for and in it
/// (docs/overlap.md).
std::string timed_report_json(const NamedTimedProblem& named, const OptimalSolution& solution);

}  // namespace fm
