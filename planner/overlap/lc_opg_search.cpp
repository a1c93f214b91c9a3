#include "planner/overlap/lc_opg_search.hpp"

#include <algorithm>

namespace fm {
namespace {

class Descent {
 public:
  Descent(const LcOpgInstance& instance, std::vector<char> preloaded,
          const std::vector<std::size_t>& movable, LcOpgBudget* budget)
      : evaluator_(instance, std::move(preloaded)), movable_(movable), budget_(*budget) {}

  LcOpgSolution run() {
    repair();
    while (move_singles() || move_pair()) {
    }
    budget_.work -= std::min(budget_.work, evaluator_.work());
    return {evaluator_.preloaded(), evaluator_.cost()};
  }

 private:
  bool over() const { return evaluator_.work() >= budget_.work || budget_.stopped(); }

  bool try_move(const std::vector<std::size_t>& moved) {
    if (evaluator_.cost_with(moved, evaluator_.cost()) >= evaluator_.cost()) return false;
    evaluator_.move(moved);
    return true;
  }

  /// Preloads weights, latest tried first, until the rest fits.
  void repair() {
    for (auto w = movable_.rbegin(); w != movable_.rend() && !evaluator_.fits(); ++w) {
      if (!evaluator_.preloaded()[*w]) evaluator_.move({*w});
    }
  }

  bool move_singles() {
    bool improved = false;
    for (const std::size_t w : movable_) {
      if (over()) return false;
      improved = try_move({w}) || improved;
    }
    return improved;
  }

  bool move_pair() {
    for (const std::size_t in : movable_) {
      if (!evaluator_.preloaded()[in]) continue;
      for (const std::size_t out : movable_) {
        if (evaluator_.preloaded()[out]) continue;
        if (over()) return false;
        if (try_move({in, out})) return true;
      }
    }
    return false;
  }

  PreloadEvaluator evaluator_;
  const std::vector<std::size_t>& movable_;
  LcOpgBudget& budget_;
};

constexpr std::uint64_t seed = 20;
constexpr std::size_t most_kicked = 6;

}  // namespace

LcOpgSolution descend(const LcOpgInstance& instance, std::vector<char> preloaded,
                      const std::vector<std::size_t>& movable, LcOpgBudget* budget) {
  return Descent(instance, std::move(preloaded), movable, budget).run();
}

LcOpgSolution search_around(const LcOpgInstance& instance, LcOpgSolution best,
                            const std::vector<std::size_t>& movable, std::int64_t bound,
                            LcOpgBudget* budget) {
  std::mt19937_64 random(seed);
  if (movable.empty()) return best;
  while (budget->work > 0 && !budget->stopped() && best.cost > bound) {
    std::vector<char> kicked = best.preloaded;
    const std::size_t kicks = 2 + random() % (most_kicked - 1);
    for (std::size_t i = 0; i < kicks; ++i) {
      const std::size_t w = movable[random() % movable.size()];
      kicked[w] = kicked[w] ? 0 : 1;
    }
    LcOpgSolution found = descend(instance, std::move(kicked), movable, budget);
    if (found.cost <= best.cost) best = std::move(found);
    // Each attempt costs something even when it runs no layer.
    budget->work -= std::min<std::uint64_t>(budget->work, 100);
  }
  return best;
}

}  // namespace fm
