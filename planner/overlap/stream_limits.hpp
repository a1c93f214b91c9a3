#pragma once
// Which chunks a launch may transform, by the budget, the ring and what its kernel takes.

#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

/// Where transforms for launch k must end: what they need is read, or claimed, by then.
std::int64_t transform_cap(const TimedProblem& problem, const PointerCaps& caps, std::size_t k);

/// What the transform of image chunk `number` claims memory up to.
std::int64_t transform_end(const TimedProblem& problem, const ChunkList& chunks,
                           std::uint64_t number);

/// Most chunks from image chunk `first` on that launch k may stream: within half of the ring, for
/// the other half is being filled for the next.
std::uint64_t streamable(const TimedProblem& problem, const ChunkList& chunks, std::size_t k,
                         std::uint64_t first);

}  // namespace fm
