#pragma once
// In which order the models of a queue run.

#include <optional>
#include <string>
#include <vector>

#include "planner/overlap/device_costs.hpp"
#include "planner/overlap/plan_problem.hpp"
#include "planner/queue/queue_draft.hpp"

namespace fm {

/// `srpt`: shortest remaining processing time first. All models are there from the start, so the
/// shortest goes first; among jobs that one machine does one after the other, no order has a
/// smaller sum of completion times (Smith, "Various optimizers for single-stage production", 1956).
enum class QueueOrder { fifo, srpt };
/// "fifo" or "srpt"; throws UserError otherwise.
QueueOrder queue_order_from(const std::string& word);
std::string to_string(QueueOrder order);

/// By model: how long it takes alone from when programs are loaded, read as early as the budget
/// allows (eager_reading; without a budget where the model alone does not fit it).
std::vector<Nanoseconds> processing_times(const QueueDraft& draft, const DeviceCosts& costs,
                                          std::optional<Bytes> budget);

/// Indices of models in the order in which they run; of equal ones the first given goes first.
std::vector<std::size_t> queue_order(QueueOrder order, const std::vector<Nanoseconds>& times);

/// By model of the plan, when its last kernel ends if all weights are read as early as the budget
/// allows and neither copies nor streams cost time. `model`: of the queue's plan.
std::vector<Nanoseconds> eager_completions(const OverlapModel& model, std::optional<Bytes> budget);

}  // namespace fm
