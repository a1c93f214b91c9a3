#pragma once
// Solves LC-OPG: a plan, a bound below every plan, and the gap between them.

#include <cstdint>
#include <string>
#include <vector>

#include "planner/overlap/lc_opg_problem.hpp"

namespace fm {

struct LcOpgOptions {
  /// Seconds after which the best plan so far is returned.
  double time_limit = 60;
  /// Go on until the plan is proven best or time is out. Otherwise the work is
  /// limited to about a second for the largest networks, counted so that the
  /// plan is the same on every machine.
  bool prove = false;
};

enum class LcOpgStatus {
  optimal,    ///< no plan is better
  feasible,   ///< the gap says how much better another plan could be at most
  time_limit  ///< the same, and the time limit ended the search
};
std::string to_string(LcOpgStatus status);

/// Chunks [first_chunk, first_chunk + chunk_count) of a weight, transformed in
/// a layer: x_{w,l}.
struct LcOpgPiece {
  std::size_t layer = 0;
  std::uint64_t first_chunk = 0;
  std::uint64_t chunk_count = 0;
};

struct LcOpgWeightPlan {
  bool preloaded = false;          ///< in W
  std::size_t first_layer = 0;     ///< z_w, 0-based; of streamed weights
  std::vector<LcOpgPiece> pieces;  ///< of streamed weights, in layer order
};

struct LcOpgResult {
  std::vector<LcOpgWeightPlan> weights;  ///< as in the problem
  std::uint64_t preloaded_chunks = 0;    ///< W, in chunks of S
  std::uint64_t distance = 0;            ///< sum of i_w - z_w over the streamed weights
  double objective = 0;                  ///< lambda * W + (1 - lambda) * distance
  double lower_bound = 0;
  /// (objective - lower_bound) / objective, 0 when both are 0.
  double gap = 0;
  double seconds = 0;
  LcOpgStatus status = LcOpgStatus::feasible;
  std::uint64_t nodes = 0;  ///< linear programs of the branch and bound
};

/// Throws UserError when no plan satisfies the preload limit, naming the layer
/// that holds it.
LcOpgResult solve_lc_opg(const LcOpgProblem& problem, const LcOpgOptions& options = {});

}  // namespace fm
