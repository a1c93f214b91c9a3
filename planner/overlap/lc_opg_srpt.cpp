#include "planner/overlap/lc_opg_srpt.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace fm {
namespace {

/// Remaining chunks and weight, fewest first.
using Jobs = std::priority_queue<std::pair<std::int64_t, std::size_t>,
                                 std::vector<std::pair<std::int64_t, std::size_t>>, std::greater<>>;

void fill_layer(std::int64_t layer, std::int64_t capacity, Jobs* jobs, LcOpgShares* shares) {
  while (capacity > 0 && !jobs->empty()) {
    auto [remaining, w] = jobs->top();
    jobs->pop();
    const std::int64_t taken = std::min(capacity, remaining);
    capacity -= taken;
    (*shares)[w].push_back({layer, taken});
    if (taken < remaining) jobs->emplace(remaining - taken, w);
  }
}

}  // namespace

std::optional<LcOpgShares> srpt_schedule(const LcOpgInstance& instance,
                                         const std::vector<char>& preloaded) {
  LcOpgShares shares(instance.weight_count());
  Jobs jobs;
  std::size_t next = instance.weight_count();
  for (auto layer = static_cast<std::int64_t>(instance.capacity.size()) - 1; layer >= 0; --layer) {
    for (; next > 0 && instance.consumer[next - 1] > layer; --next) {
      if (!preloaded[next - 1]) jobs.emplace(instance.chunks[next - 1], next - 1);
    }
    fill_layer(layer, instance.capacity[layer], &jobs, &shares);
  }
  for (; next > 0; --next) {
    if (!preloaded[next - 1]) return std::nullopt;
  }
  if (!jobs.empty()) return std::nullopt;
  for (auto& of_weight : shares) std::reverse(of_weight.begin(), of_weight.end());
  return shares;
}

std::int64_t cost_of(const LcOpgInstance& instance, const std::vector<char>& preloaded,
                     const LcOpgShares& shares) {
  std::int64_t cost = 0;
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    cost += preloaded[w] ? instance.preload_cost(w)
                         : instance.layer_cost * (instance.consumer[w] - shares[w].front().layer);
  }
  return cost;
}

}  // namespace fm
