#pragma once
// Streams where they cost least, given when chunks are read.

#include <cstdint>
#include <vector>

#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

/// By launch: image chunks that it may have transformed when it ends, without the GPU waiting for
/// one: those read, and within the caps of the budget, when the launch before it ends (or when its
/// own weights are read). `lead`: when that many launches before it end, as for a host that must
/// enqueue it by then. At least what the launch needs.
std::vector<std::uint64_t> chunks_in_time(const TimedProblem& problem, const ChunkList& chunks,
                                          const TimedRun& run, std::size_t lead);

/// Chunks streamed by launch, for which those of no other choice cost less that streams as many:
/// launch k transforms chunks that are there (`in_time`) and that no launch until k needs. Both
/// rise with k, so that a choice x can be iff image_needed[i] + x[i] + .. + x[k] <= in_time[k] for
/// all i <= k: the independent sets of a matroid, in which the greedy choice, cheapest chunk first,
/// is the best. Chunks that cost more than `highest` nanoseconds a byte are left to copies.
std::vector<std::uint64_t> fill_streams(const TimedProblem& problem, const ChunkList& chunks,
                                        const std::vector<std::uint64_t>& in_time, double highest);

/// What a streamed byte may cost, ascending: a few values between the cheapest and a copied byte.
std::vector<double> stream_prices(const TimedProblem& problem);

}  // namespace fm
