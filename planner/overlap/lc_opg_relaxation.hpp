#pragma once
// What both relaxations of LC-OPG, Lagrangian and linear program, have in
// common: the rows that couple the weights, and prices of these rows.

#include <cstdint>
#include <limits>
#include <vector>

#include "planner/overlap/lc_opg_instance.hpp"
#include "planner/overlap/lc_opg_minimum_preload.hpp"

namespace fm {

/// The unsettled weights below `weight_end` must have at least `least` chunks
/// in W.
struct LcOpgDueRow {
  std::size_t weight_end = 0;
  double least = 0;
};

/// Chunks at a layer <= its capacity; the due rows; chunks of W <= `limit`.
struct LcOpgRows {
  std::vector<std::size_t> weights;  ///< unsettled, ascending
  std::vector<LcOpgDueRow> due;      ///< those that the capacities do not imply
  double limit = std::numeric_limits<double>::infinity();
  double settled_cost = 0;
};

LcOpgRows relaxation_rows(const LcOpgInstance& instance, const LcOpgMinimumPreload& least);

/// Prices of the rows, all not negative, in units of cost a chunk.
struct LcOpgPrices {
  std::vector<double> layer;
  std::vector<double> due;
  double limit = 0;
};

/// share * a + (1 - share) * b
LcOpgPrices mixed(double share, const LcOpgPrices& a, const LcOpgPrices& b);

/// By weight: what a chunk of it in W is worth at the prices of the due rows
/// and the limit.
std::vector<double> preload_rewards(const LcOpgRows& rows, const LcOpgPrices& prices,
                                    std::size_t weight_count);

}  // namespace fm
