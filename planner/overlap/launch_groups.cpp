#include "planner/overlap/launch_groups.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr double same_slope = 0.01;  // relative

/// By launch: its share of time, of bytes first used, and of the launches, 3 in all.
std::vector<double> shares_of(const TimedProblem& problem) {
  const std::size_t n = problem.launches.size();
  double time = 1, bytes = 1;
  for (const TimedLaunch& launch : problem.launches)
    time += static_cast<double>(launch.time.count());
  for (const TimedWeight& weight : problem.weights) {
    bytes += static_cast<double>(weight.bytes.count());
  }
  std::vector<double> shares(n, 1 / static_cast<double>(n));
  for (std::size_t k = 0; k < n; ++k) {
    shares[k] += static_cast<double>(problem.launches[k].time.count()) / time;
  }
  for (const TimedWeight& weight : problem.weights) {
    shares[weight.first_use] += static_cast<double>(weight.bytes.count()) / bytes;
  }
  return shares;
}

}  // namespace

std::vector<LaunchGroup> launch_groups(const TimedProblem& problem, std::size_t most) {
  const std::size_t n = problem.launches.size();
  std::vector<LaunchGroup> groups;
  if (n <= most) {
    for (std::size_t k = 0; k < n; ++k) groups.push_back({k, k});
    return groups;
  }
  std::vector<char> uses(n, 0);
  for (const TimedWeight& weight : problem.weights) uses[weight.first_use] = 1;
  const std::vector<double> shares = shares_of(problem);
  // A group may end at half of its share, for a weight to begin the next.
  const double full = 6.0 / static_cast<double>(std::max<std::size_t>(most, 2) - 1);
  double share = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const bool begins = groups.empty() || share >= full || (uses[k] && share >= full / 2);
    if (begins) groups.push_back({k, k});
    share = begins ? shares[k] : share + shares[k];
    groups.back().last = k;
  }
  return groups;
}

std::vector<StreamPiece> stream_pieces(const TimedLaunch& launch) {
  std::vector<StreamPiece> pieces;
  double bytes = 0, time = 0;
  for (const SlowdownPoint& point : launch.slowdown) {
    const auto next_bytes = static_cast<double>(point.streamed.count());
    const auto next_time = static_cast<double>(point.extra.count());
    pieces.push_back({next_bytes - bytes, (next_time - time) / (next_bytes - bytes)});
    bytes = next_bytes, time = next_time;
  }
  return pieces;
}

std::vector<StreamPiece> stream_pieces(const TimedProblem& problem, const LaunchGroup& group,
                                       const std::vector<char>& streams) {
  std::vector<StreamPiece> pieces;
  for (std::size_t k = group.first; k <= group.last; ++k) {
    if (!streams[k]) continue;
    const std::vector<StreamPiece> own = stream_pieces(problem.launches[k]);
    pieces.insert(pieces.end(), own.begin(), own.end());
  }
  if (group.first == group.last) return pieces;
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const auto& a, const auto& b) { return a.slope < b.slope; });
  std::vector<StreamPiece> merged;
  for (const StreamPiece& piece : pieces) {
    if (!merged.empty() && piece.slope <= merged.back().slope * (1 + same_slope)) {
      merged.back().bytes += piece.bytes;
    } else {
      merged.push_back(piece);
    }
  }
  return merged;
}

}  // namespace fm
