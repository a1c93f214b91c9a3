#include "planner/overlap/lc_opg_relaxation.hpp"

#include <algorithm>

namespace fm {

LcOpgRows relaxation_rows(const LcOpgInstance& instance, const LcOpgMinimumPreload& least) {
  LcOpgRows rows;
  std::int64_t settled = 0, before = 0;
  std::size_t next = 0;
  for (const LcOpgDue& due : least.due) {
    for (; next < due.weight_end; ++next) {
      if (instance.settled[next]) {
        settled += instance.chunks[next];
        rows.settled_cost += static_cast<double>(instance.preload_cost(next));
      } else {
        rows.weights.push_back(next);
      }
    }
    const std::int64_t free_least = due.least - settled;
    if (due.least > due.excess && free_least > before) {
      rows.due.push_back({due.weight_end, static_cast<double>(free_least)});
    }
    before = std::max(before, free_least);
  }
  if (instance.limited) rows.limit = static_cast<double>(instance.preload_limit - settled);
  return rows;
}

LcOpgPrices mixed(double share, const LcOpgPrices& a, const LcOpgPrices& b) {
  LcOpgPrices prices = b;
  for (std::size_t i = 0; i < a.layer.size(); ++i) {
    prices.layer[i] = share * a.layer[i] + (1 - share) * b.layer[i];
  }
  for (std::size_t i = 0; i < a.due.size(); ++i) {
    prices.due[i] = share * a.due[i] + (1 - share) * b.due[i];
  }
  prices.limit = share * a.limit + (1 - share) * b.limit;
  return prices;
}

std::vector<double> preload_rewards(const LcOpgRows& rows, const LcOpgPrices& prices,
                                    std::size_t weight_count) {
  std::vector<double> rewards(weight_count, 0);
  double reward = -prices.limit;
  std::size_t row = rows.due.size();
  for (std::size_t w = weight_count; w > 0; --w) {
    for (; row > 0 && rows.due[row - 1].weight_end >= w; --row) reward += prices.due[row - 1];
    rewards[w - 1] = reward;
  }
  return rewards;
}

}  // namespace fm
