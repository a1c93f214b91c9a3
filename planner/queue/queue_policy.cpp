#include "planner/queue/queue_policy.hpp"

#include <algorithm>
#include <map>

#include "core/diagnostics.hpp"
#include "core/figures_text.hpp"
#include "core/preload_memory.hpp"
#include "kernels/catalogue.hpp"
#include "planner/dependencies.hpp"
#include "planner/overlap/eager_reading.hpp"
#include "planner/queue/queue_order.hpp"

namespace fm {
namespace {

/// Hold sets that are planned for, beside none.
constexpr std::size_t hold_sets_planned = 3;
constexpr double fastest_tolerance = 0.01;

using Held = std::vector<char>;

class QueuePolicy {
 public:
  QueuePolicy(const QueueDraft& draft, const std::vector<std::vector<std::string>>& groups,
              const std::vector<std::size_t>& order, const DeviceCosts& costs,
              const QueueRequest& request)
      : costs_(costs),
        request_(request),
        priced_(concatenated(draft, order)),
        shared_(priced_.plan, groups),
        candidates_(hold_candidates(shared_.gaps())) {
    // The most is held first.
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [&](const Held& a, const Held& b) { return held_bytes(a) > held_bytes(b); });
  }

  QueuePlan plan() const { return request_.policy == "optimal" ? optimal() : first_that_fits(); }

 private:
  Bytes held_bytes(const Held& held) const {
    Bytes bytes;
    for (std::size_t g = 0; g < held.size(); ++g) {
      if (held[g]) bytes += shared_.gaps()[g].bytes;
    }
    return bytes;
  }

  QueuePlan described(Plan plan, const Held& held) const {
    QueuePlan result;
    result.plan = std::move(plan);
    result.held = held_bytes(held);
    result.read_again = held_bytes(Held(held.size(), 1)) - result.held;
    return result;
  }

  // ---- optimal
  QueuePlan planned(const Held& held) const {
    const Plan plan = shared_.joined(held);
    const OverlapModel model(plan, priced_.launches, costs_);
    OverlapPlan overlap = plan_optimal(model, costs_, request_.overlap).front();
    QueuePlan result = described(std::move(overlap.plan), held);
    result.overlap = std::move(overlap.report);
    result.predicted = true;
    for (const std::size_t last : last_launches(plan)) {
      result.completions.push_back(overlap.finish.at(last));
    }
    return result;
  }

  /// With a budget or a slowdown the plan that serves it best; else the leanest of the fastest.
  bool better(const QueuePlan& a, const QueuePlan& b) const {
    const Bytes memory_a = a.overlap->peak.total(), memory_b = b.overlap->peak.total();
    const Nanoseconds time_a = a.overlap->predicted, time_b = b.overlap->predicted;
    if (request_.overlap.minimize_memory) {
      return memory_a != memory_b ? memory_a < memory_b : time_a < time_b;
    }
    const auto fast_enough = [](Nanoseconds time, Nanoseconds other) {
      return static_cast<double>(time.count()) <=
             static_cast<double>(other.count()) * (1 + fastest_tolerance);
    };
    const bool alike = fast_enough(time_a, time_b) && fast_enough(time_b, time_a);
    if (!request_.overlap.budget && alike) return memory_a < memory_b;
    return time_a != time_b ? time_a < time_b : memory_a < memory_b;
  }

  /// Of the candidates that the budget may hold, the one that reads fastest, the fastest of those
  /// that hold at most half as much, and so on, and the one that holds nothing. (Eager reading
  /// knows neither copies nor rings: what is held in their place may cost more than it saves.)
  std::vector<Held> promising() const {
    std::map<Held, double> latencies;
    const Bytes budget = request_.overlap.budget.value_or(unlimited_bytes);
    for (const Held& held : candidates_) {
      const Plan plan = shared_.joined(held);
      const OverlapModel model(plan, priced_.launches, costs_);
      const TimedProblem problem = model.relaxed_problem(budget);
      if (budget < minimum_budget(problem).bytes) continue;
      latencies[held] = eager_reading(problem).latency;
    }
    std::vector<Held> chosen;
    for (Bytes most = unlimited_bytes; chosen.size() <= hold_sets_planned; most = most / 2) {
      const bool last = chosen.size() == hold_sets_planned;
      const Held* best = nullptr;
      for (const Held& held : candidates_) {
        const auto rated = latencies.find(held);
        if (rated == latencies.end() || held_bytes(held) > (last ? Bytes(0) : most)) continue;
        if (best == nullptr || rated->second < latencies.at(*best)) best = &rated->first;
      }
      if (best == nullptr) break;
      chosen.push_back(*best);
      most = held_bytes(*best);
      if (most == Bytes(0)) break;
    }
    return chosen;
  }

  QueuePlan optimal() const {
    std::optional<QueuePlan> best;
    Held best_held;
    std::optional<UserError> refusal;
    const auto consider = [&](const Held& held) {
      try {
        QueuePlan result = planned(held);
        if (best && !better(result, *best)) return;
        best = std::move(result);
        best_held = held;
      } catch (const UserError& error) {
        refusal = error;  // the last one's: it holds nothing and needs the least
      }
    };
    for (const Held& held : promising()) consider(held);
    if (!best) consider(candidates_.back());
    if (!best) throw *refusal;
    const Held wider = shared_.held_with_preloads(best->plan, best_held);
    if (wider != best_held) consider(wider);
    return std::move(*best);
  }

  // ---- policies that know of no budget
  QueuePlan first_that_fits() const {
    std::optional<UserError> refusal;
    for (const Held& held : candidates_) {
      if (request_.policy == "preload" && held != candidates_.front()) break;
      try {
        return request_.policy == "lc-opg" ? planned_by_lc_opg(held) : streamed(held);
      } catch (const UserError& error) {
        refusal = error;
      }
    }
    throw *refusal;
  }

  QueuePlan planned_by_lc_opg(const Held& held) const {
    const Plan plan = shared_.joined(held);
    const OverlapModel model(plan, priced_.launches, costs_);
    OverlapPlan overlap = plan_lc_opg(model, costs_, request_.lc_opg, request_.overlap);
    QueuePlan result = described(std::move(overlap.plan), held);
    result.overlap = std::move(overlap.report);
    result.completions = eager_completions(model, request_.overlap.budget);
    return result;
  }

  QueuePlan streamed(const Held& held) const {
    const Plan kernels = shared_.joined(held);
    Plan plan = kernels;
    apply_policy(request_.streaming, request_.ring, &plan);
    set_dependencies(&plan);
    set_claims(&plan);
    refuse_beyond_budget(plan);
    QueuePlan result = described(std::move(plan), held);
    const OverlapModel model(kernels, priced_.launches, costs_);
    result.completions = eager_completions(model, request_.overlap.budget);
    return result;
  }

  void refuse_beyond_budget(const Plan& plan) const {
    if (!request_.overlap.budget) return;
    const auto largest = std::max_element(plan.launches.begin(), plan.launches.end(),
                                          [](const PlanLaunch& a, const PlanLaunch& b) {
                                            return a.claims.total() < b.claims.total();
                                          });
    const Bytes budget = *request_.overlap.budget, preloading = preloading_bytes(plan);
    // The executor's ring has room for the blocks of the file around what it reads.
    const Bytes around = plan.staging_ring_bytes > Bytes(0) ? slice_alignment * 2 : Bytes(0);
    const Bytes claims = largest->claims.total() + around;
    if (std::max(claims, preloading) <= budget) return;
    throw UserError("--budget " + mebibytes_down(budget) + ": policy " + plan.policy + " needs " +
                    least_budget_text(std::max(claims, preloading)) + ", held by " +
                    (claims >= preloading ? launch_name(*largest) : preloading_name) +
                    "; use --policy optimal");
  }

  const DeviceCosts& costs_;
  const QueueRequest& request_;
  const PricedPlan priced_;
  const SharedWeights shared_;
  std::vector<Held> candidates_;
};

}  // namespace

QueuePlan plan_queue(const QueueDraft& draft, const std::vector<std::vector<std::string>>& groups,
                     const std::vector<std::size_t>& order, const DeviceCosts& costs,
                     const QueueRequest& request) {
  QueuePlan result = QueuePolicy(draft, groups, order, costs, request).plan();
  result.order = order;
  validate(result.plan);
  validate_launches(result.plan);
  return result;
}

}  // namespace fm
