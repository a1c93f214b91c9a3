#include "planner/overlap/read_positions.hpp"

#include <algorithm>

namespace fm {
namespace {

using Corner = ReadPositions::Corner;

double interpolate(const std::vector<Corner>& corners, double Corner::*from, double Corner::*to,
                   double value) {
  if (value <= corners.front().*from) return corners.front().*to;
  if (value >= corners.back().*from) return corners.back().*to;
  const auto after =
      std::upper_bound(corners.begin(), corners.end(), value,
                       [from](double v, const Corner& corner) { return v < corner.*from; });
  const Corner& right = *after;
  const Corner& left = *(after - 1);
  const double share = (value - left.*from) / (right.*from - left.*from);
  return left.*to + share * (right.*to - left.*to);
}

}  // namespace

ReadPositions::ReadPositions(const TimedProblem& problem) {
  corners_.reserve(problem.weights.size() + 1);
  corners_.emplace_back();
  for (const TimedWeight& weight : problem.weights) {
    Corner corner = corners_.back();
    const auto bytes = static_cast<double>(weight.bytes.count());
    corner.bytes += bytes;
    corner.time += static_cast<double>(weight.read.count());
    if (weight.form == WeightForm::image) corner.images += bytes;
    corners_.push_back(corner);
  }
}

double ReadPositions::time_at(double bytes) const {
  return interpolate(corners_, &Corner::bytes, &Corner::time, bytes);
}

double ReadPositions::bytes_at(double time) const {
  return interpolate(corners_, &Corner::time, &Corner::bytes, time);
}

double ReadPositions::images_at(double time) const {
  return interpolate(corners_, &Corner::time, &Corner::images, time);
}

}  // namespace fm
