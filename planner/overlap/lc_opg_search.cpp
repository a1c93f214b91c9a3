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

  /// Goes round all pairs from where it stopped last; true at the first that improves.
  bool move_pair() {
    const std::size_t count = movable_.size();
    for (std::size_t tried = 0; tried < count * count; ++tried) {
      if (over()) return false;
      const std::size_t in = movable_[position_ / count], out = movable_[position_ % count];
      position_ = (position_ + 1) % (count * count);
      if (!evaluator_.preloaded()[in] || evaluator_.preloaded()[out]) continue;
      if (try_move({in, out})) return true;
    }
    return false;
  }

  PreloadEvaluator evaluator_;
  const std::vector<std::size_t>& movable_;
  LcOpgBudget& budget_;
  std::size_t position_ = 0;
};

constexpr std::uint64_t seed = 20;
/// What starting an attempt costs, in layers run.
constexpr std::uint64_t attempt_work = 1000;
constexpr std::size_t most_kicked = 5;
/// Weights near each other in launch order that are kicked and descended together.
constexpr std::size_t window_size = 32;

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
  const std::size_t size = std::min(window_size, movable.size());
  while (budget->work > 0 && !budget->stopped() && best.cost > bound) {
    const std::size_t first = random() % (movable.size() - size + 1);
    const auto begin = movable.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::size_t> window(begin, begin + static_cast<std::ptrdiff_t>(size));
    std::vector<char> kicked = best.preloaded;
    const std::size_t kicks = 1 + random() % most_kicked;
    for (std::size_t i = 0; i < kicks; ++i) {
      const std::size_t w = window[random() % size];
      kicked[w] = kicked[w] ? 0 : 1;
    }
    LcOpgSolution found = descend(instance, std::move(kicked), window, budget);
    if (found.cost <= best.cost) best = std::move(found);
    budget->work -= std::min<std::uint64_t>(budget->work, attempt_work);
  }
  return best;
}

}  // namespace fm
