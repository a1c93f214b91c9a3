#include "planner/overlap/stream_limits.hpp"

#include <algorithm>

#include "planner/overlap/read_pieces.hpp"

namespace fm {

std::int64_t transform_cap(const TimedProblem& problem, const PointerCaps& caps, std::size_t k) {
  return problem.whole_claims ? caps.running[k - std::min(k, problem.ahead)] : caps.waiting[k];
}

std::int64_t transform_end(const TimedProblem& problem, const ChunkList& chunks,
                           std::uint64_t number) {
  const WeightChunk& chunk = chunks.all[chunks.images[number]];
  return problem.whole_claims ? chunks.weight_end[chunk.weight] : chunk.end;
}

std::uint64_t streamable(const TimedProblem& problem, const ChunkList& chunks, std::size_t k,
                         std::uint64_t first) {
  const SlowdownCurve& curve = problem.launches[k].slowdown;
  if (curve.empty()) return 0;
  const std::uint64_t block = problem.whole_claims ? staging_block : 0;
  const std::uint64_t room = problem.ring.count() / 2;
  std::uint64_t count = 0, bytes = 0;
  std::size_t images = 0;
  for (std::uint64_t i = first; i < chunks.images.size(); ++i, ++count) {
    const WeightChunk& chunk = chunks.all[chunks.images[i]];
    bytes += chunk.bytes;
    if (count == 0 || chunks.all[chunks.images[i - 1]].weight != chunk.weight) ++images;
    if (bytes > curve.back().streamed.count() || bytes + images * block > room) break;
    if (images > problem.images_a_launch) break;
  }
  return count;
}

}  // namespace fm
