#pragma once
// From what groups of launches stream in the relaxation to what each launch does.

#include <vector>

#include "planner/overlap/launch_groups.hpp"
#include "planner/overlap/overlap_lp.hpp"
#include "planner/overlap/read_positions.hpp"

namespace fm {

/// A group in the relaxation, in bytes and nanoseconds.
struct RelaxedGroup {
  LaunchGroup launches;
  double pointer_start = 0, pointer_finish = 0;  ///< disk time
  double transformed = 0;                        ///< when its last launch ends
  double streamed = 0;
};

/// By launch: in each group the cheapest pieces are streamed, of what is read by the launch's start
/// if the GPU does not wait within the group; what is not read in time goes to later groups. A
/// group of one launch keeps its values. `streams`: by launch, whether it may.
void share_out(const TimedProblem& problem, const ReadPositions& positions,
               const std::vector<char>& streams, const std::vector<RelaxedGroup>& groups,
               LpSolution* solution);

}  // namespace fm
