#pragma once
// A schedule written into a plan: residency, earliest reads, copy launches, streams in kernels.

#include <vector>

#include "planner/overlap/plan_problem.hpp"

namespace fm {

/// Weights that one kernel launch may stream at most: a slot of the kernel for each.
constexpr std::size_t images_a_streaming_launch = 2;

/// `streamed`: the plan's weights that the schedule is about, in its order. Copies become launches
/// "C0", .. before the launch they are for. Reads into the ring may start at once, since the ring
/// holds them back; a buffer's read starts with the launch at which the run claimed it.
Plan plan_with_schedule(const Plan& plan, const OverlapSetting& setting,
                        const std::vector<std::size_t>& streamed, const OverlapSchedule& schedule,
                        const TimedRun& run);

}  // namespace fm
