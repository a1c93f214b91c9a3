#pragma once
// The problem in whole numbers, as the solver works on it.

#include <cstdint>
#include <vector>

#include "planner/overlap/lc_opg_problem.hpp"

namespace fm {

/// Weights are sorted by consumer. Costs are whole: `chunk_cost` a preloaded
/// chunk, `layer_cost` a layer of loading distance; the paper's objective is
/// their sum over `cost_scale`.
struct LcOpgInstance {
  /// Chunks a layer can transform: min(C_l, M_peak / S).
  std::vector<std::int64_t> capacity;
  /// Sum of capacity over the layers before one; one longer than `capacity`.
  std::vector<std::int64_t> capacity_before;
  std::vector<std::int64_t> chunks;    ///< T(w)
  std::vector<std::int64_t> consumer;  ///< 0-based: chunks go into layers 0 to consumer - 1
  /// In W in some best plan whatever else is: read by the first layer, forced,
  /// too large for all layers before its consumer, or no dearer preloaded than
  /// streamed alone.
  std::vector<char> settled;
  std::vector<std::size_t> original;  ///< index in the problem
  std::int64_t chunk_cost = 0;
  std::int64_t layer_cost = 0;
  std::int64_t cost_scale = 1;
  std::int64_t preload_limit = 0;  ///< chunks
  bool limited = false;            ///< preload_limit can bind

  std::size_t weight_count() const { return chunks.size(); }
  std::int64_t preload_cost(std::size_t w) const { return chunk_cost * chunks[w]; }
};

/// Throws UserError when lambda has more than four decimals, or when the user's
/// own preloads do not fit the preload limit.
LcOpgInstance lc_opg_instance(const LcOpgProblem& problem);

}  // namespace fm
