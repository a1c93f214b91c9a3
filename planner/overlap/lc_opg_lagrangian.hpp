#pragma once
// The Lagrangian relaxation of LC-OPG: with a price on the coupling rows every
// weight decides for itself. Its value is a lower bound at any prices.

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/overlap/lc_opg_column.hpp"
#include "planner/overlap/lc_opg_relaxation.hpp"

namespace fm {

/// What the weights do at some prices.
struct LcOpgAnswer {
  double value = -std::numeric_limits<double>::infinity();
  /// By weight: what preloading costs beyond the best it can do, and what
  /// streaming does. Both at least 0, one of them 0. Infinity for streaming
  /// when it costs `penalty` or more.
  std::vector<double> preload_excess, stream_excess;
  /// The cheapest way to stream each weight, where it costs less than
  /// `penalty`.
  std::vector<LcOpgColumn> columns;
};

class LcOpgLagrangian {
 public:
  /// `penalty`: cost of neither preloading nor streaming a weight, above any
  /// that matters.
  LcOpgLagrangian(const LcOpgInstance& instance, const LcOpgRows& rows,
                  const std::vector<LcOpgChoice>& choices, double penalty)
      : instance_(instance), rows_(rows), choices_(choices), penalty_(penalty), pricer_(instance) {}

  LcOpgAnswer answer(const LcOpgPrices& prices);
  /// Layers scanned so far, and those passed for the prices alone.
  std::uint64_t work() const { return pricer_.work() + work_; }

 private:
  const LcOpgInstance& instance_;
  const LcOpgRows& rows_;
  const std::vector<LcOpgChoice>& choices_;
  double penalty_;
  LcOpgPricer pricer_;
  std::uint64_t work_ = 0;
};

/// Where the ascent ended.
struct LcOpgAscent {
  LcOpgPrices prices;  ///< the best it met
  LcOpgAnswer answer;  ///< at these
  /// By weight: about how far it is in W, from the average of the answers.
  std::vector<double> preloaded;
  std::vector<LcOpgColumn> columns;  ///< different ones of the last steps
};

/// Raises the bound step by step (the volume algorithm: Barahona and Anbil
/// 2000) until it reaches `cutoff`, `work` is done or `stop` says so.
LcOpgAscent ascend(const LcOpgInstance& instance, const LcOpgRows& rows,
                   LcOpgLagrangian* lagrangian, std::int64_t cutoff, std::uint64_t work,
                   const std::function<bool()>& stop);

}  // namespace fm
