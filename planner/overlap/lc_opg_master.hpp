#pragma once
// The linear program over ways to stream each weight: its relaxation bounds
// LC-OPG from below.

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/overlap/lc_opg_column.hpp"
#include "planner/overlap/lc_opg_relaxation.hpp"

class ClpSimplex;

namespace fm {

/// minimise   sum preload_cost y_w + sum layer_cost distance_c u_c
/// subject to y_w + sum of u_c of w >= 1; chunks at a layer <= capacity; for
/// each layer
///            sum chunks y_w of the weights due by it >= the least preload; sum
///            chunks y_w <= limit.
/// Unsettled weights only. A weight that fits nowhere is paid for dearly
/// instead.
class LcOpgMaster {
 public:
  LcOpgMaster(const LcOpgInstance& instance, const LcOpgRows& rows);
  ~LcOpgMaster();
  LcOpgMaster(const LcOpgMaster&) = delete;
  LcOpgMaster& operator=(const LcOpgMaster&) = delete;

  void add(const std::vector<LcOpgColumn>& columns);
  /// The columns of a schedule.
  void add_schedule(const LcOpgShares& shares);
  /// Restricts the program to what `choices` (by weight) allow.
  void restrict_to(const std::vector<LcOpgChoice>& choices);
  enum class Outcome { optimal, stopped, infeasible };
  /// Solves over the columns so far, or stops after `pivots`.
  Outcome solve(int pivots);
  /// Of the last solve, settled weights included.
  double value() const;
  LcOpgPrices prices() const;
  /// Price of placing weight `w` at all.
  double weight_price(std::size_t w) const;
  /// Of streaming that way.
  double cost(const LcOpgColumn& column) const {
    return static_cast<double>(instance_.layer_cost * column.distance);
  }
  /// Price of not placing a weight: above any cost that matters.
  double penalty() const { return penalty_; }

  /// y_w of the last solve.
  double preloaded(std::size_t w) const;
  /// Shares of w's distances in the last solve, ascending, without those of no
  /// share.
  std::vector<std::pair<std::int64_t, double>> distances(std::size_t w) const;
  std::size_t row_count() const;
  /// Pivots done times rows: about what solving costs, the same on every
  /// machine.
  std::uint64_t work() const { return work_; }

 private:
  void add_rows();
  void add_due_rows();
  void add_fixed_columns();

  const LcOpgInstance& instance_;
  const LcOpgRows& rows_;
  std::vector<int> row_of_weight_;  ///< -1 for settled ones
  std::vector<int> row_of_layer_;   ///< -1 for layers without capacity
  int first_due_row_ = 0;
  int limit_row_ = -1;
  double penalty_ = 0;
  std::uint64_t work_ = 0;
  std::vector<LcOpgColumn> columns_;
  std::vector<std::vector<std::size_t>> columns_of_;  ///< by weight
  std::unique_ptr<ClpSimplex> simplex_;
};

}  // namespace fm
