#pragma once
// The models of a queue as drafts, and one plan of them in an order.

#include <optional>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "planner/priced_draft.hpp"
#include "planner/queue/queue_entries.hpp"

namespace fm {

/// Drafts by model, in the order given: kernels only, priced, each placed as if it were alone. Ids
/// are unique among all.
struct QueueDraft {
  std::vector<QueueEntry> entries;
  std::vector<PricedPlan> models;
  LaunchProfiles profiles;  ///< where prices come from; without launches
};

/// Throws UserError.
QueueDraft draft_queue(const std::vector<QueueEntry>& entries, const DeviceConfig& config,
                       const PlanOptions& options, const ProfileFiles& profile,
                       bool choose_placement);

/// All models in one plan, one after the other: `order` has indices of draft.models. Models and
/// tensors stay in the order given. Placed: activations of one model follow those of the one before
/// in the same pools. Every weight is its model's own.
PricedPlan concatenated(const QueueDraft& draft, const std::vector<std::size_t>& order);

/// By model of the plan, the position of its last kernel.
std::vector<std::size_t> last_launches(const Plan& plan);

}  // namespace fm
