#pragma once
// Which chunks the budget lets a launch transform.

#include <algorithm>

#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

/// Where transforms for launch k must end: what they need is read, or claimed, by then.
inline std::int64_t transform_cap(const TimedProblem& problem, const PointerCaps& caps,
                                  std::size_t k) {
  return problem.whole_claims ? caps.running[k - std::min(k, problem.ahead)] : caps.waiting[k];
}

/// What the transform of image chunk `number` claims memory up to.
inline std::int64_t transform_end(const TimedProblem& problem, const ChunkList& chunks,
                                  std::uint64_t number) {
  const WeightChunk& chunk = chunks.all[chunks.images[number]];
  return problem.whole_claims ? chunks.weight_end[chunk.weight] : chunk.end;
}

}  // namespace fm
