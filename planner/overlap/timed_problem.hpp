#pragma once
// The overlap problem in time: launches in a fixed order, weights that one disk queue brings for
// them, and memory that both share. What `optimal` solves; nothing here knows of plans or devices.

#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

constexpr Bytes unlimited_bytes{std::uint64_t{1} << 62};

struct TimedLaunch {
  Nanoseconds time;  ///< e_k: bare, without any stream
  /// A_k and a_k: bytes other than streamed weights that are resident while it runs, and while
  /// everything waits for it.
  Bytes running, waiting;
  SlowdownCurve slowdown;  ///< empty: nothing can be streamed inside
};

/// `image`: its chunks are transformed from unified to texture memory before the first use, inside
/// launches or by copies. `buffer`: ready once read.
enum class WeightForm { image, buffer };

struct TimedWeight {
  Bytes bytes;
  std::size_t first_use = 0;  ///< positions of launches
  std::size_t last_use = 0;   ///< its memory is free after this launch; launches.size(): never
  WeightForm form = WeightForm::image;
  Nanoseconds read;        ///< disk time of the whole weight, latencies included
  bool new_memory = true;  ///< made for it, not taken over from an earlier weight
};

/// GPU time of separate copies from unified to texture memory. They run between launches.
struct CopyCost {
  Nanoseconds base;  ///< of each copy, which moves chunks of one weight
  double nanoseconds_per_byte = 0;
};

/// Time of the one host thread that makes images and buffers and enqueues launches and copies, in
/// order, while `ahead` others are unfinished.
struct HostCost {
  Nanoseconds enqueue;
  Nanoseconds allocation;  ///< of each new image or buffer, and by its bytes
  double allocation_nanoseconds_per_byte = 0;
};

struct TimedProblem {
  std::vector<TimedLaunch> launches;
  std::vector<TimedWeight> weights;  ///< by first use, which is the order of reading
  CopyCost copy;
  Bytes chunk{256 * 1024};          ///< S: what is read, transformed and claimed at once
  Bytes budget = unlimited_bytes;   ///< B: of everything resident at any time
  Bytes ring = unlimited_bytes;     ///< of image chunks read and not yet transformed
  std::size_t images_a_launch = 8;  ///< weights whose chunks one launch may transform, at most
  Nanoseconds head_start;  ///< disk and copies work this long before the first launch may start
  /// How memory is claimed. false: chunk by chunk, in the ring only what is there: no executor
  /// holds less. true, as OpenCL has it: the ring always and whole; a buffer whole when its read
  /// begins; an image whole from `ahead` launches before the one that its first chunk is copied
  /// for or streamed in; reads and copies in pieces of the ring (read_pieces()).
  bool whole_claims = false;
  std::size_t ahead = 0;
  Nanoseconds piece_overhead;  ///< with whole claims: disk time of each further piece of a weight
  HostCost host;               ///< with whole claims
  Bytes preloading;            ///< resident before the first launch, while preloads are read
};

/// Whether bytes rise and each further byte costs no less than those before it, but for roundings
/// to whole nanoseconds.
bool is_convex(const SlowdownCurve& curve);

/// Throws std::invalid_argument: no launches, a weight out of order or without uses, a slowdown
/// that is not convex, chunk of 0 bytes.
void check(const TimedProblem& problem);

/// The same problem with the least claims there can be: chunk by chunk, no ring. Its optimum is a
/// lower bound of the problem's.
TimedProblem chunkwise(const TimedProblem& problem);

/// Bytes of weights by launch, all in the order of reading: residency is bytes claimed less bytes
/// freed.
struct WeightDemand {
  std::vector<std::uint64_t> needed;  ///< need_k: of all weights first used by launch k or before
  std::vector<std::uint64_t> freed;   ///< free_k: of all weights last used before launch k
  /// What must be claimed while k runs: need_k, and with whole claims the images of launches that
  /// are enqueued with it.
  std::vector<std::uint64_t> claimed;
};
WeightDemand weight_demand(const TimedProblem& problem);

/// How far claims may be (chunk-wise: the read pointer) while launch k is waited for and while it
/// runs: the budget of all later launches respected, since the pointer never goes back, and at the
/// end of a chunk, since chunks are claimed whole. Negative: not even without weights.
struct PointerCaps {
  std::vector<std::int64_t> waiting, running;
};
PointerCaps pointer_caps(const TimedProblem& problem, const WeightDemand& demand);

/// B_min and the launch that holds it: max_k(max(A_k, a_k) + need_k - free_k), or what preloading
/// takes before the first one. No schedule exists below it, one does at it. With whole claims the
/// ring is part of it, and claims of images are taken to be complete when the first of a launch is
/// made.
struct MinimumBudget {
  Bytes bytes;
  std::size_t launch = 0;
  Bytes activations, weights, ring;  ///< what is resident while it runs
  bool preloading = false;           ///< held before the first launch, not by one
};
MinimumBudget minimum_budget(const TimedProblem& problem);

/// Latency with unlimited memory, streams and copies for free:
/// max(sum of e_k, max_k(D(need_k) - head start + sum of e_i, i >= k)).
struct TimeFloor {
  Nanoseconds latency;  ///< the largest of all
  Nanoseconds disk;     ///< D(all weights)
  Nanoseconds compute;  ///< sum of e_k
};
TimeFloor time_floor(const TimedProblem& problem);

}  // namespace fm
