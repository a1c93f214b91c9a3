#include "planner/overlap/lc_opg_lagrangian.hpp"

#include <algorithm>

namespace fm {
namespace {

/// What an answer costs besides, in layers scanned: in all, and for each weight.
constexpr std::uint64_t answer_work = 100, weight_work = 10;

}  // namespace

LcOpgAnswer LcOpgLagrangian::answer(const LcOpgPrices& prices) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LcOpgAnswer answer;
  answer.preload_excess.assign(instance_.weight_count(), 0);
  answer.stream_excess.assign(instance_.weight_count(), infinity);
  answer.value = rows_.settled_cost;
  for (std::size_t layer = 0; layer < prices.layer.size(); ++layer) {
    answer.value -= prices.layer[layer] * static_cast<double>(instance_.capacity[layer]);
  }
  for (std::size_t i = 0; i < rows_.due.size(); ++i) {
    answer.value += prices.due[i] * rows_.due[i].least;
  }
  if (prices.limit > 0) answer.value -= prices.limit * rows_.limit;
  pricer_.use(prices.layer);
  work_ += prices.layer.size() + answer_work + weight_work * rows_.weights.size();
  const std::vector<double> rewards = preload_rewards(rows_, prices, instance_.weight_count());
  for (const std::size_t w : rows_.weights) {
    const LcOpgChoice& choice = choices_[w];
    double preload = penalty_, stream = infinity;
    if (choice.may_preload) {
      preload = static_cast<double>(instance_.preload_cost(w)) -
                rewards[w] * static_cast<double>(instance_.chunks[w]);
    }
    if (choice.may_stream) {
      const auto [distance, cost] = pricer_.cheapest(w, choice, penalty_);
      if (distance > 0) {
        stream = cost;
        answer.columns.push_back(pricer_.column(w, distance));
      }
    }
    const double best = std::min(preload, stream);
    answer.value += best;
    answer.preload_excess[w] = preload - best;
    answer.stream_excess[w] = stream - best;
  }
  return answer;
}

}  // namespace fm
