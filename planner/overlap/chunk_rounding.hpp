#pragma once
// From the relaxation's bytes to a schedule in chunks.

#include "planner/overlap/overlap_lp.hpp"
#include "planner/overlap/overlap_schedule.hpp"

namespace fm {

/// Streams as given, cut to what each launch can stream; what they leave over is copied as late as
/// possible. The result can run if its transforms are within the caps.
OverlapSchedule with_late_copies(const TimedProblem& problem, const ChunkList& chunks,
                                 std::vector<std::uint64_t> streamed);

/// Follows the relaxation's transformed bytes as closely as chunks, streamed bytes and images of
/// each launch allow: a chunk counts as transformed when `share` (0 to 1) of it is. What the
/// streams left over is copied as late as possible. The result can run.
OverlapSchedule round_to_chunks(const TimedProblem& problem, const ChunkList& chunks,
                                const LpSolution& relaxed, double share);

/// Moves single chunks from copies into earlier launches, and out of them, while that makes the run
/// shorter; at most `rounds` passes over the launches, and about `work` launches and chunks run in
/// all: counted, so that the result is the same on every machine.
void improve_schedule(const TimedProblem& problem, const ChunkList& chunks, int rounds,
                      std::uint64_t work, OverlapSchedule* schedule, TimedRun* run);

}  // namespace fm
