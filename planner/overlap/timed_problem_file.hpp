#pragma once
// Timed problems as files: sizes and times, no plan (docs/overlap.md).

#include <string>
#include <vector>

#include "core/yaml_value.hpp"
#include "planner/overlap/timed_problem.hpp"

namespace fm {

struct NamedTimedProblem {
  std::string name;
  TimedProblem problem;
  std::vector<std::string> launches, weights;  ///< names, by position
};

/// Whether the document's first words are a timed problem's: the key `timed`.
bool is_timed_problem(const YamlValue& document);
/// Throws UserError with the place of whatever is wrong: an unknown or missing key, a quantity out
/// of range, a name that is not there or there twice, weights not by first use, a slowdown that is
/// not rising and convex.
NamedTimedProblem timed_problem_of(const YamlValue& document);

}  // namespace fm
