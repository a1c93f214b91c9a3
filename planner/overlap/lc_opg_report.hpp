#pragma once
// What `fmplan solve` says about a solution.

#include <string>

#include "planner/overlap/lc_opg.hpp"

namespace fm {

/// A few lines for people: sizes, lambda, S, M_peak, objective, bound, gap.
std::string lc_opg_report(const LcOpgProblem& problem, const LcOpgResult& result);
/// The same and, for every weight, whether it is preloaded or in which layers
/// its chunks go (docs/lc-opg.md).
std::string lc_opg_report_json(const LcOpgProblem& problem, const LcOpgResult& result);

}  // namespace fm
