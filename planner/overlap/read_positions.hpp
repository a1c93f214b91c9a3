#pragma once
// Positions of the read pointer: bytes, disk time, and bytes of images before it.

#include <cstdint>
#include <vector>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

/// The corners of all weights in reading order, and linear interpolation between them. Doubles:
/// bytes and nanoseconds are exact up to 2^53.
class ReadPositions {
 public:
  explicit ReadPositions(const TimedProblem& problem);

  struct Corner {
    double bytes = 0;   ///< of all weights before
    double time = 0;    ///< D: disk time until here
    double images = 0;  ///< of weights in images before
  };
  /// weights + 1 corners, from the origin.
  const std::vector<Corner>& corners() const { return corners_; }
  double end_bytes() const { return corners_.back().bytes; }

  /// D(bytes); bytes beyond the ends are clamped.
  double time_at(double bytes) const;
  double bytes_at(double time) const;
  double images_at(double time) const;

 private:
  std::vector<Corner> corners_;
};

}  // namespace fm
