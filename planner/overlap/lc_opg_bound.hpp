#pragma once
// A lower bound of LC-OPG by column generation.

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/overlap/lc_opg_lagrangian.hpp"
#include "planner/overlap/lc_opg_master.hpp"

namespace fm {

struct LcOpgBound {
  /// No plan within the choices costs less; whole, as costs are.
  std::int64_t cost = 0;
  /// The program was solved to its end: its last solution is optimal.
  bool converged = false;
  LcOpgPrices prices;  ///< the best met
  LcOpgAnswer answer;  ///< at these
};

/// A valid bound from a Lagrangian value: rounding errors off, then up to whole
/// costs.
std::int64_t whole_bound(double value);

/// Adds columns to `master` until no better one exists, the bound reaches
/// `cutoff`, `master` has done `work` in all, or `stop` says so. Begins at
/// `prices`. Any prices give a valid bound, so stopping early costs sharpness
/// only.
LcOpgBound generate_columns(const LcOpgPrices& prices, LcOpgLagrangian* lagrangian,
                            std::int64_t cutoff, std::uint64_t work,
                            const std::function<bool()>& stop, LcOpgMaster* master);

}  // namespace fm
