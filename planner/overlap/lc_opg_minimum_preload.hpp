#pragma once
// The least that must be preloaded so that the rest fits the layers'
// capacities.

#include <cstdint>
#include <vector>

#include "planner/overlap/lc_opg_instance.hpp"

namespace fm {

/// The weights due by some layer, and what is known about those of them in W.
struct LcOpgDue {
  std::int64_t consumer = 0;
  std::size_t weight_end = 0;  ///< the weights [0, weight_end) are due by `consumer`
  /// Chunks that exceed what the layers before `consumer` can carry.
  std::int64_t excess = 0;
  /// Least sum of whole weights in W that covers this excess and those before
  /// it: at least `excess`, more where no choice of weights gives exactly that.
  std::int64_t least = 0;
};

struct LcOpgMinimumPreload {
  std::vector<LcOpgDue> due;    ///< one for each consumer, ascending
  std::vector<char> preloaded;  ///< a W of the least sum; settled weights are in it
  std::int64_t chunks = 0;      ///< its sum
};

/// Exact, by dynamic programming over the sums that prefixes of the weights can
/// reach. Weights fit exactly when for every layer those due by it fit the
/// layers before it (Hall's condition for nested intervals). Settled weights
/// count as preloaded.
LcOpgMinimumPreload minimum_preload(const LcOpgInstance& instance);

}  // namespace fm
