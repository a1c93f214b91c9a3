#pragma once
// Launches that the relaxation takes together, so that it stays small for any network.

#include <cstddef>
#include <vector>

#include "planner/overlap/timed_problem.hpp"

namespace fm {

/// A stretch of launches.
struct LaunchGroup {
  std::size_t first = 0, last = 0;
};

/// At most `most` groups (at least 1) of about equal shares of time and of first-used weights, each
/// of one launch when there are no more. Groups begin where weights are first used if they can.
std::vector<LaunchGroup> launch_groups(const TimedProblem& problem, std::size_t most);

/// What a group may stream: pieces of its launches' slowdowns, cheapest first. Launches are convex,
/// so that no launch's pieces are taken out of order.
struct StreamPiece {
  double bytes = 0;
  double slope = 0;  ///< extra nanoseconds a byte
};

/// Those of one launch, in the order of its curve.
std::vector<StreamPiece> stream_pieces(const TimedLaunch& launch);
/// Those of a group; pieces of about the same slope are one, at the least of their slopes.
/// `streams`: by launch of the problem, whether it has anything to stream.
std::vector<StreamPiece> stream_pieces(const TimedProblem& problem, const LaunchGroup& group,
                                       const std::vector<char>& streams);

}  // namespace fm
