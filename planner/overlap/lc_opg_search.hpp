#pragma once
// Local search over W: each W is judged by its best schedule.

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "planner/overlap/lc_opg_evaluator.hpp"

namespace fm {

/// A W and what its best schedule costs.
struct LcOpgSolution {
  std::vector<char> preloaded;
  std::int64_t cost = PreloadEvaluator::impossible;
};

/// When to give up: work is counted, so that a result does not depend on the
/// machine; `stopped` (the user's time limit) ends it at once.
struct LcOpgBudget {
  std::uint64_t work = 0;
  std::function<bool()> stopped;
};

/// Moves single weights into or out of W, then pairs of one in and one out,
/// while that lowers the cost. Only `movable` weights move, earlier ones are
/// tried first. Takes its work off the budget.
LcOpgSolution descend(const LcOpgInstance& instance, std::vector<char> preloaded,
                      const std::vector<std::size_t>& movable, LcOpgBudget* budget);

/// Descends again and again from the best W with a few weights near each other moved at random.
LcOpgSolution search_around(const LcOpgInstance& instance, LcOpgSolution best,
                            const std::vector<std::size_t>& movable, std::int64_t bound,
                            LcOpgBudget* budget);

}  // namespace fm
