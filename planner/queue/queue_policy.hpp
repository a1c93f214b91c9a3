#pragma once
// One plan of all models of a queue, in a given order, within a budget.

#include <optional>
#include <string>
#include <vector>

#include "planner/overlap/lc_opg_policy.hpp"
#include "planner/queue/queue_draft.hpp"
#include "planner/queue/shared_weights.hpp"

namespace fm {

struct QueueRequest {
  std::string policy = "optimal";
  StreamingPolicy streaming = StreamingPolicy::preload;  ///< of policies that do not plan in time
  std::optional<Bytes> ring;                             ///< of those too
  OverlapRequest overlap;                                ///< the budget is any policy's
  LcOpgRequest lc_opg;
};

struct QueuePlan {
  std::vector<std::size_t> order;  ///< of models
  Plan plan;
  std::optional<OverlapReport> overlap;  ///< of `optimal` and `lc-opg`
  /// By model, in the order given: when its last kernel ends, from when programs are loaded. Of
  /// `optimal` as predicted for this plan, else eager_completions().
  std::vector<Nanoseconds> completions;
  bool predicted = false;
  Bytes held, read_again;  ///< of weights that more than one model uses, counted once a use
};

/// Weights of `groups` (equal_weights()) are held from one use to the next, or read again, as it
/// serves the request best: `optimal` rates hold_candidates() by their eager reading and plans
/// for some of the best; other policies hold as much as the budget allows. Claims stay within the
/// budget. Throws UserError when no plan does, naming the launch and the model that hold the least
/// possible.
QueuePlan plan_queue(const QueueDraft& draft, const std::vector<std::vector<std::string>>& groups,
                     const std::vector<std::size_t>& order, const DeviceCosts& costs,
                     const QueueRequest& request);

}  // namespace fm
