#pragma once
// A schedule of transforms in chunks, and the exact run of the timed model under it.

#include <cstdint>
#include <vector>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

/// One chunk of a weight, in reading order.
struct WeightChunk {
  std::size_t weight = 0;
  std::uint64_t bytes = 0;
  std::int64_t end = 0;       ///< read pointer behind it, bytes
  std::int64_t read_end = 0;  ///< nanoseconds on the disk of all chunks up to it
};

/// All chunks in reading order, and those of image weights by their place among them. A weight's
/// last chunk may be short; disk time is shared out by bytes.
struct ChunkList {
  explicit ChunkList(const TimedProblem& problem);
  std::vector<WeightChunk> all;
  std::vector<std::int64_t> weight_end;     ///< by weight: read pointer behind it
  std::vector<std::size_t> weight_chunks;   ///< by weight: chunks of `all` up to its last
  std::vector<std::size_t> images;          ///< indices into `all`
  std::vector<std::uint64_t> read_needed;   ///< by launch: chunks of `all` it needs read
  std::vector<std::uint64_t> image_needed;  ///< by launch: chunks of `images` it needs transformed
};

/// Chunks of image weights by launch; they are transformed in reading order.
struct OverlapSchedule {
  std::vector<std::uint64_t> copied;    ///< by separate copies before the launch
  std::vector<std::uint64_t> streamed;  ///< inside the launch
};

/// Copies only, each as late as possible.
OverlapSchedule copies_before_use(const TimedProblem& problem, const ChunkList& chunks);

/// When, of launch `launch`, something may begin: while it is waited for, or when it starts.
struct Phase {
  std::size_t launch = 0;
  bool running = false;
};

struct PeakMemory {
  Bytes total;
  std::size_t launch = 0;
  /// Weights not yet and already transformed, all else. With whole claims: the ring, images and
  /// buffers, all else.
  Bytes unified, texture, activations;
};

struct TimedRun {
  Nanoseconds latency;
  std::vector<Nanoseconds> start, finish;  ///< by launch, from the first launch's earliest start
  std::vector<std::int64_t> read_at;       ///< by chunk: when it is read, on the same clock
  std::vector<Phase> read_from;            ///< by weight: when its first chunk was claimed
  Nanoseconds copying, slowed;  ///< GPU time of copies, and of streams beyond bare launches
  Nanoseconds waiting;          ///< GPU time lost to reads
  PeakMemory peak;
};

/// Runs the timed model: the disk reads chunk after chunk, each claimed as soon as the caps of the
/// budget and the ring allow; copies run between launches and in the head start, each chunk after
/// it was read; a launch starts when what it needs is transformed and what it streams is read.
/// Throws std::invalid_argument when the schedule cannot run: below the minimum budget, a chunk too
/// late or beyond a launch's streamed bytes or images, more than the ring holds.
TimedRun run_schedule(const TimedProblem& problem, const ChunkList& chunks,
                      const OverlapSchedule& schedule);

/// Leaves out of the schedule the streams that a launch, or the host that enqueues it, would wait
/// for, has them copied as late as possible, and runs what is left.
TimedRun run_without_late_streams(const TimedProblem& problem, const ChunkList& chunks,
                                  OverlapSchedule* schedule);

}  // namespace fm
