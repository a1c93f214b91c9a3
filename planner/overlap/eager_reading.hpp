#pragma once
// The exact optimum while streams and copies cost nothing, in one pass over the launches.

#include <vector>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

struct EagerReading {
  double latency = 0;                 ///< nanoseconds
  std::vector<double> start, finish;  ///< by launch
  std::vector<double> pointer;        ///< bytes read when each launch ends
};

/// Reads whenever the pointer is below its cap, and starts launch k when need_k is read: no order
/// of reading and no idling is faster (an exchange argument; tests compare with brute force). The
/// pointer moves byte by byte; slowdowns, copy costs, ring and whole claims are ignored, so that
/// `latency` is a lower bound of every schedule within the budget. Throws std::invalid_argument
/// when the budget is below minimum_budget().
EagerReading eager_reading(const TimedProblem& problem);

}  // namespace fm
