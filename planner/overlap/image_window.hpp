#pragma once
// What a read pointer within a window can mean for images: bytes read, and the cost of copies.

#include <vector>

#include "planner/overlap/read_positions.hpp"

namespace fm {

/// images <= offset + rate * time.
struct EnvelopeLine {
  double offset = 0, rate = 0;
};

/// Lines of the upper concave envelope of image bytes over disk time, between two times; at most
/// three of them, which together still bound it from above.
std::vector<EnvelopeLine> image_envelope(const ReadPositions& positions, double from, double to);

/// Least cost a byte, in nanoseconds, of copying a part of any image weight that the pointer may
/// reach between two times: a part costs at least its share of the whole weight's copy.
double least_copy_cost(const TimedProblem& problem, const ReadPositions& positions, double from,
                       double to);

}  // namespace fm
