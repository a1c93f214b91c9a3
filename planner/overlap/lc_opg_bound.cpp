#include "planner/overlap/lc_opg_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fm {
namespace {

/// Trust in the best prices so far against the program's newest (Wentges 1997):
/// the newest alone oscillate.
constexpr double smoothing = 0.6;
constexpr double reduced_cost_tolerance = 1e-6;
constexpr double relative_tolerance = 1e-7;

class ColumnGeneration {
 public:
  ColumnGeneration(LcOpgLagrangian* lagrangian, LcOpgMaster* master)
      : lagrangian_(*lagrangian), master_(*master) {}

  LcOpgBound run(const LcOpgPrices& prices, std::int64_t cutoff, std::uint64_t work,
                 const std::function<bool()>& stop) {
    bound_.prices = prices;
    bound_.answer = lagrangian_.answer(prices);
    while (whole_bound(bound_.answer.value) < cutoff && master_.work() < work && !stop()) {
      const LcOpgMaster::Outcome outcome = master_.solve(pivots(work));
      if (outcome == LcOpgMaster::Outcome::infeasible) {
        bound_.cost = cutoff;
        return std::move(bound_);
      }
      const double value = master_.value();
      const LcOpgPrices newest = master_.prices();
      std::size_t added = price(mixed(smoothing, bound_.prices, newest), newest);
      if (added == 0) added = price(newest, newest);
      if (outcome != LcOpgMaster::Outcome::optimal) continue;
      bound_.converged = added == 0 || value - bound_.answer.value <
                                           relative_tolerance * std::max(1.0, std::abs(value));
      if (bound_.converged) break;
    }
    bound_.cost = whole_bound(bound_.answer.value);
    return std::move(bound_);
  }

 private:
  int pivots(std::uint64_t work) const {
    const std::uint64_t left = (work - master_.work()) / master_.row_count() + 1;
    return static_cast<int>(std::min<std::uint64_t>(left, std::numeric_limits<int>::max()));
  }

  double reduced_cost(const LcOpgColumn& column, const LcOpgPrices& newest) const {
    double cost = master_.cost(column) - master_.weight_price(column.weight);
    for (const LcOpgShare& share : column.shares) {
      cost += newest.layer[share.layer] * static_cast<double>(share.chunks);
    }
    return cost;
  }

  /// Bound at prices `at`; adds the columns met there that improve the program
  /// at `newest`.
  std::size_t price(const LcOpgPrices& at, const LcOpgPrices& newest) {
    LcOpgAnswer answer = lagrangian_.answer(at);
    std::vector<LcOpgColumn> columns;
    for (const LcOpgColumn& column : answer.columns) {
      if (reduced_cost(column, newest) < -reduced_cost_tolerance) columns.push_back(column);
    }
    if (answer.value > bound_.answer.value) {
      bound_.prices = at;
      bound_.answer = std::move(answer);
    }
    master_.add(columns);
    return columns.size();
  }

  LcOpgLagrangian& lagrangian_;
  LcOpgMaster& master_;
  LcOpgBound bound_;
};

}  // namespace

std::int64_t whole_bound(double value) {
  return static_cast<std::int64_t>(
      std::ceil(value - 10 * relative_tolerance * std::max(1.0, std::abs(value))));
}

LcOpgBound generate_columns(const LcOpgPrices& prices, LcOpgLagrangian* lagrangian,
                            std::int64_t cutoff, std::uint64_t work,
                            const std::function<bool()>& stop, LcOpgMaster* master) {
  return ColumnGeneration(lagrangian, master).run(prices, cutoff, work, stop);
}

}  // namespace fm
