#include "planner/overlap/image_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fm {
namespace {

struct Point {
  double time = 0, images = 0;
};

double rate(const Point& a, const Point& b) { return (b.images - a.images) / (b.time - a.time); }

std::vector<Point> window_points(const ReadPositions& positions, double from, double to) {
  const auto& corners = positions.corners();
  std::vector<Point> points{{from, positions.images_at(from)}};
  auto corner =
      std::upper_bound(corners.begin(), corners.end(), from,
                       [](double time, const ReadPositions::Corner& c) { return time < c.time; });
  for (; corner != corners.end() && corner->time < to; ++corner) {
    if (corner->time > points.back().time) points.push_back({corner->time, corner->images});
  }
  if (to > points.back().time) points.push_back({to, positions.images_at(to)});
  return points;
}

/// Corners of the upper concave envelope, left to right (Andrew's monotone chain).
std::vector<Point> upper_hull(const std::vector<Point>& points) {
  std::vector<Point> hull;
  for (const Point& point : points) {
    while (hull.size() >= 2 &&
           rate(hull[hull.size() - 2], hull.back()) <= rate(hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

}  // namespace

std::vector<EnvelopeLine> image_envelope(const ReadPositions& positions, double from, double to) {
  const std::vector<Point> hull = upper_hull(window_points(positions, from, to));
  if (hull.size() == 1) return {{hull[0].images, 0}};
  const auto line = [&](std::size_t i) {
    const double slope = rate(hull[i], hull[i + 1]);
    return EnvelopeLine{hull[i].images - slope * hull[i].time, slope};
  };
  const std::size_t segments = hull.size() - 1;
  std::vector<EnvelopeLine> lines{line(0)};
  if (segments > 2) lines.push_back(line(segments / 2));
  if (segments > 1) lines.push_back(line(segments - 1));
  return lines;
}

double least_copy_cost(const TimedProblem& problem, const ReadPositions& positions, double from,
                       double to) {
  const auto& corners = positions.corners();
  double least = std::numeric_limits<double>::infinity();
  auto corner =
      std::upper_bound(corners.begin() + 1, corners.end(), from,
                       [](double time, const ReadPositions::Corner& c) { return time < c.time; });
  if (corner != corners.begin() + 1) --corner;
  for (; corner != corners.end(); ++corner) {
    if ((corner - 1)->time > to) break;
    const TimedWeight& weight =
        problem.weights[static_cast<std::size_t>(corner - corners.begin()) - 1];
    if (weight.form != WeightForm::image) continue;
    least = std::min(least, static_cast<double>(problem.copy.base.count()) /
                                static_cast<double>(weight.bytes.count()));
  }
  if (std::isinf(least)) least = 0;
  return least + problem.copy.nanoseconds_per_byte;
}

}  // namespace fm
