#pragma once
// What `fmplan queue` says about its plan.

#include <optional>
#include <string>
#include <vector>

#include "planner/queue/queue_order.hpp"
#include "planner/queue/queue_policy.hpp"

namespace fm {

/// A queue planned in the order asked for, and how the other order would end.
struct PlannedQueue {
  QueueOrder order = QueueOrder::fifo;
  std::vector<Nanoseconds> alone;  ///< processing_times(), by model
  QueuePlan plan;
  std::vector<std::size_t> other_order;
  std::vector<Nanoseconds> other_completions;  ///< empty: no plan in the other order
  std::string other_refusal;                   ///< why
};

/// Behind plan_summary() and report_text(): a table of the models, the sums and means of completion
/// times in both orders, and what became of shared weights.
std::string queue_report_text(const PlannedQueue& queue);
std::string queue_report_json(const PlannedQueue& queue);

}  // namespace fm
