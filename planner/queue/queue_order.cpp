#include "planner/queue/queue_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/diagnostics.hpp"
#include "planner/overlap/eager_reading.hpp"

namespace fm {
namespace {

/// From when programs are loaded: nothing is read before.
EagerReading read_eagerly(const OverlapModel& model, std::optional<Bytes> budget) {
  TimedProblem problem = model.relaxed_problem(budget.value_or(unlimited_bytes));
  if (problem.budget < minimum_budget(problem).bytes) problem.budget = unlimited_bytes;
  problem.head_start = Nanoseconds(0);
  return eager_reading(problem);
}

Nanoseconds rounded(double time) {
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(time)));
}

}  // namespace

QueueOrder queue_order_from(const std::string& word) {
  if (word == "fifo") return QueueOrder::fifo;
  if (word == "srpt") return QueueOrder::srpt;
  throw UserError("--order `" + word + "`: " + accepted_words(word, {"fifo", "srpt"}));
}

std::string to_string(QueueOrder order) { return order == QueueOrder::fifo ? "fifo" : "srpt"; }

std::vector<Nanoseconds> processing_times(const QueueDraft& draft, const DeviceCosts& costs,
                                          std::optional<Bytes> budget) {
  std::vector<Nanoseconds> times;
  for (const PricedPlan& priced : draft.models) {
    const OverlapModel model(priced.plan, priced.launches, costs);
    times.push_back(rounded(read_eagerly(model, budget).latency));
  }
  return times;
}

std::vector<std::size_t> queue_order(QueueOrder order, const std::vector<Nanoseconds>& times) {
  std::vector<std::size_t> models(times.size());
  std::iota(models.begin(), models.end(), std::size_t{0});
  if (order == QueueOrder::fifo) return models;
  std::stable_sort(models.begin(), models.end(),
                   [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  return models;
}

std::vector<Nanoseconds> eager_completions(const OverlapModel& model, std::optional<Bytes> budget) {
  const EagerReading reading = read_eagerly(model, budget);
  std::vector<Nanoseconds> times;
  for (const std::size_t last : last_launches(model.plan())) {
    times.push_back(rounded(reading.finish[last]));
  }
  return times;
}

}  // namespace fm
