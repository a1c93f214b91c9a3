#include "planner/overlap/adaptive_fusion.hpp"

#include <algorithm>

#include "planner/overlap/lc_opg_instance.hpp"
#include "planner/overlap/lc_opg_search.hpp"
#include "planner/overlap/lc_opg_srpt.hpp"

namespace fm {
namespace {

/// Work of judging one split: a descent from the W at hand.
constexpr std::uint64_t split_work = 300'000;

std::vector<char> preload_of(const LcOpgInstance& instance, const LcOpgResult& result) {
  std::vector<char> preloaded;
  for (const std::size_t index : instance.original) {
    preloaded.push_back(result.weights[index].preloaded ? 1 : 0);
  }
  return preloaded;
}

/// Neither read by the first layer nor named by the user: in W for want of capacity. In time:
/// copied for want of it.
bool lacks_capacity(const FusedSchedule& schedule) {
  if (!schedule.copied.empty()) {
    return std::any_of(schedule.copied.begin(), schedule.copied.end(),
                       [](std::uint64_t chunks) { return chunks > 0; });
  }
  const LcOpgProblem& problem = schedule.problem;
  const LcOpgResult& result = schedule.result;
  for (std::size_t i = 0; i < problem.weights.size(); ++i) {
    const LcOpgWeight& weight = problem.weights[i];
    if (result.weights[i].preloaded && weight.layer > 0 && !weight.preload) return true;
  }
  return false;
}

LcOpgProblem with_split(const LcOpgProblem& problem, const FusionSplit& split) {
  LcOpgProblem after = problem;
  after.layers[split.layer].capacity = split.first_capacity;
  after.layers.insert(after.layers.begin() + static_cast<std::ptrdiff_t>(split.layer) + 1,
                      {split.unfused, split.second_capacity});
  for (LcOpgWeight& weight : after.weights) {
    if (weight.layer > split.layer) ++weight.layer;
  }
  return after;
}

/// Chunks in W, and layers of distance without layer `uncounted`.
struct Outcome {
  std::int64_t chunks = 0;
  std::int64_t distance = 0;
};

Outcome outcome_of(const LcOpgInstance& instance, const std::vector<char>& preloaded,
                   std::int64_t uncounted) {
  Outcome outcome;
  const auto shares = srpt_schedule(instance, preloaded);
  for (std::size_t w = 0; w < instance.weight_count(); ++w) {
    if (preloaded[w]) {
      outcome.chunks += instance.chunks[w];
      continue;
    }
    const std::int64_t first = shares->at(w).front().layer;
    outcome.distance += instance.consumer[w] - first;
    if (first <= uncounted && uncounted < instance.consumer[w]) --outcome.distance;
  }
  return outcome;
}

double penalty_of(const FusedSchedule& schedule, const FusionSplit& split, double mu) {
  const LcOpgInstance fused = lc_opg_instance(schedule.problem);
  const LcOpgInstance apart = lc_opg_instance(with_split(schedule.problem, split));
  std::vector<std::size_t> movable;
  for (std::size_t w = 0; w < apart.weight_count(); ++w) {
    if (!apart.settled[w]) movable.push_back(w);
  }
  LcOpgBudget budget{split_work, [] { return false; }};
  const std::vector<char> before = preload_of(fused, schedule.result);
  const LcOpgSolution after = descend(apart, before, movable, &budget);
  const Outcome with = outcome_of(fused, before, -1);
  const Outcome without =
      outcome_of(apart, after.preloaded, static_cast<std::int64_t>(split.layer) + 1);
  return schedule.problem.lambda * static_cast<double>(with.chunks - without.chunks) +
         mu * static_cast<double>(with.distance - without.distance);
}

double penalty_in_time(const FusedSchedule& schedule, const FusionSplit& split) {
  const std::uint64_t fused = schedule.problem.layers[split.layer].capacity;
  std::uint64_t behind = 0;
  for (std::size_t k = split.layer + 1; k < schedule.copied.size(); ++k) {
    behind += schedule.copied[k];
  }
  return static_cast<double>(
      std::min(behind, split.first_capacity + split.second_capacity - fused));
}

bool gains_capacity(const FusedSchedule& schedule, const FusionSplit& split, double alpha) {
  const auto fused = static_cast<double>(schedule.problem.layers[split.layer].capacity);
  const auto apart = static_cast<double>(split.first_capacity + split.second_capacity);
  return apart > fused && apart >= (1 + alpha) * fused;
}

}  // namespace

std::vector<RankedSplit> rank_splits(const FusedSchedule& schedule,
                                     const AdaptiveFusionOptions& options) {
  std::vector<RankedSplit> ranked;
  for (const FusionSplit& split : schedule.splits) {
    if (!gains_capacity(schedule, split, options.alpha)) continue;
    const double penalty = schedule.copied.empty() ? penalty_of(schedule, split, options.mu)
                                                   : penalty_in_time(schedule, split);
    if (penalty > 0) ranked.push_back({split, penalty});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedSplit& a, const RankedSplit& b) {
    return a.penalty > b.penalty;
  });
  return ranked;
}

AdaptiveFusionResult adapt_fusion(const PlanUnfused& plan, const AdaptiveFusionOptions& options) {
  AdaptiveFusionResult best{plan({}), {}, 1};
  std::set<std::string> refused;
  std::size_t batch = SIZE_MAX;
  while (best.plans < options.most_plans && lacks_capacity(best.schedule)) {
    std::vector<std::string> chosen;
    for (const RankedSplit& ranked : rank_splits(best.schedule, options)) {
      if (refused.count(ranked.split.unfused) == 0) chosen.push_back(ranked.split.unfused);
    }
    if (chosen.empty()) break;
    for (batch = std::min(batch, chosen.size()); best.plans < options.most_plans; batch /= 2) {
      std::set<std::string> unfused = best.unfused;
      unfused.insert(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(batch));
      FusedSchedule schedule = plan(unfused);
      ++best.plans;
      if (schedule.cost < best.schedule.cost) {
        best.schedule = std::move(schedule);
        best.unfused = std::move(unfused);
        break;
      }
      if (batch == 1) {
        refused.insert(chosen[0]);
        break;
      }
    }
  }
  return best;
}

}  // namespace fm
