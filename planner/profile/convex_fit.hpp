#pragma once
// A slowdown curve through measured points.

#include <vector>

#include "planner/profile/slowdown.hpp"

namespace fm {

/// The convex, non-decreasing, piecewise linear curve from the origin with a knee at each point,
/// that changes the points' slopes least: isotonic regression of the slopes between them, weighted
/// by their lengths (pool adjacent violators; Barlow et al., "Statistical Inference under Order
/// Restrictions", 1972). Points may come in any order and more than once (their mean counts); those
/// that stream nothing are left out.
SlowdownCurve convex_fit(const std::vector<SlowdownPoint>& points);

}  // namespace fm
