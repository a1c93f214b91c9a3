#pragma once
// Branch and price: closes the gap that the root's bound leaves, as far as time
// allows.

#include <cstdint>
#include <set>
#include <vector>

#include "planner/overlap/lc_opg_bound.hpp"
#include "planner/overlap/lc_opg_search.hpp"

namespace fm {

/// Best-first over nodes that fix weights in or out of W and, where that is all
/// decided, split the range of a loading distance. Every W met is judged by its
/// best schedule.
class LcOpgBranch {
 public:
  LcOpgBranch(const LcOpgInstance& instance, const LcOpgRows& rows, LcOpgSolution start);

  /// Bounds the problem without any choice made by an ascent of `work`, and
  /// searches around what the ascent suggests.
  void root(std::uint64_t work, LcOpgBudget* budget);
  /// Column generation and branching until nothing is open, `lp_work` is done
  /// or the budget says stop.
  void branch(std::uint64_t lp_work, LcOpgBudget* budget);

  const LcOpgSolution& best() const { return best_; }
  /// No plan costs less.
  std::int64_t bound() const;
  std::uint64_t nodes() const { return nodes_; }

 private:
  struct Node {
    std::int64_t bound = 0;
    std::uint64_t number = 0;
    std::vector<LcOpgChoice> choices;
    /// Lowest bound first, of equals the newest: it is the deepest.
    bool operator<(const Node& other) const {
      return bound != other.bound ? bound < other.bound : number > other.number;
    }
  };

  void fix_by_excess(const LcOpgAnswer& answer, std::vector<LcOpgChoice>* choices) const;
  std::vector<std::size_t> undecided(const std::vector<LcOpgChoice>& choices) const;
  void take(LcOpgSolution found);
  void round(const std::vector<LcOpgChoice>& choices, const std::vector<double>& shares,
             std::uint64_t work, LcOpgBudget* budget);
  void exhaust(const std::vector<LcOpgChoice>& choices, const std::vector<std::size_t>& weights);
  bool split(const std::vector<LcOpgChoice>& choices, std::vector<LcOpgChoice>* first,
             std::vector<LcOpgChoice>* second) const;
  void open(std::vector<LcOpgChoice> choices, std::int64_t bound);

  const LcOpgInstance& instance_;
  const LcOpgRows& rows_;
  LcOpgMaster master_;
  LcOpgPrices prices_;  ///< the best of the last node
  LcOpgSolution best_;
  std::multiset<Node> open_;
  /// Bound of nodes that could not be split although their bound is below the
  /// best plan.
  std::int64_t stuck_ = PreloadEvaluator::impossible;
  std::uint64_t nodes_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace fm
