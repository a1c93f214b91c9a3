#include "planner/profile/convex_fit.hpp"

#include <cmath>
#include <map>

namespace fm {
namespace {

/// Pieces that share a slope.
struct Block {
  double length = 0, rise = 0;
  std::size_t pieces = 0;
  double slope() const { return rise / length; }
};

std::map<std::uint64_t, double> means(const std::vector<SlowdownPoint>& points) {
  std::map<std::uint64_t, std::pair<double, double>> sums;  // bytes -> sum, count
  for (const SlowdownPoint& point : points) {
    if (point.streamed == Bytes(0)) continue;
    auto& [sum, count] = sums[point.streamed.count()];
    sum += static_cast<double>(point.extra.count());
    count += 1;
  }
  std::map<std::uint64_t, double> result;
  for (const auto& [bytes, sum] : sums) result[bytes] = sum.first / sum.second;
  return result;
}

}  // namespace

SlowdownCurve convex_fit(const std::vector<SlowdownPoint>& points) {
  const std::map<std::uint64_t, double> wanted = means(points);
  std::vector<Block> blocks;
  double bytes = 0, time = 0;
  for (const auto& [at, extra] : wanted) {
    Block block{static_cast<double>(at) - bytes, extra - time, 1};
    bytes = static_cast<double>(at);
    time = extra;
    while (!blocks.empty() && blocks.back().slope() >= block.slope()) {
      block.length += blocks.back().length;
      block.rise += blocks.back().rise;
      block.pieces += blocks.back().pieces;
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  SlowdownCurve curve;
  double height = 0, before = 0;
  std::size_t block = 0, left = blocks.empty() ? 0 : blocks[0].pieces;
  for (const auto& [at, extra] : wanted) {
    if (left == 0) left = blocks[++block].pieces;
    const double slope = blocks[block].slope() > 0 ? blocks[block].slope() : 0;
    height += slope * (static_cast<double>(at) - before);
    before = static_cast<double>(at);
    --left;
    curve.push_back({Bytes(at), Nanoseconds(static_cast<std::uint64_t>(std::llround(height)))});
  }
  return curve;
}

}  // namespace fm
