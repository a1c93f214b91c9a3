#include "planner/queue/queue_draft.hpp"

#include "core/progress_bar.hpp"

namespace fm {
namespace {

template <class Items>
void append(const Items& items, Items* all) {
  all->insert(all->end(), items.begin(), items.end());
}

}  // namespace

QueueDraft draft_queue(const std::vector<QueueEntry>& entries, const DeviceConfig& config,
                       const PlanOptions& options, const ProfileFiles& profile,
                       bool choose_placement) {
  QueueDraft queue;
  queue.entries = entries;
  ProgressBar bar("drafting");
  QueuePlace place;
  for (const QueueEntry& entry : entries) {
    place.name = entry.name;
    PlanOptions own = options;
    own.bindings = entry.bindings;
    own.queued = place;
    PricedDraft draft = priced_draft(import_model(entry.path, entry.bindings), config, own, profile,
                                     choose_placement);
    place = place_behind(draft.priced.plan);
    queue.models.push_back(std::move(draft.priced));
    draft.profiles.launches.clear();
    queue.profiles = std::move(draft.profiles);
    bar.show(queue.models.size(), entries.size());
  }
  return queue;
}

PricedPlan concatenated(const QueueDraft& draft, const std::vector<std::size_t>& order) {
  PricedPlan all;
  all.plan = draft.models.at(0).plan;
  all.plan.models.clear();
  all.plan.tensors.clear();
  all.plan.launches.clear();
  all.plan.gathers.clear();
  for (const PricedPlan& model : draft.models) {
    append(model.plan.models, &all.plan.models);
    append(model.plan.tensors, &all.plan.tensors);
    append(model.plan.gathers, &all.plan.gathers);
  }
  for (const std::size_t m : order) {
    append(draft.models[m].plan.launches, &all.plan.launches);
    append(draft.models[m].launches, &all.launches);
  }
  place_tensors(&all.plan);
  return all;
}

std::vector<std::size_t> last_launches(const Plan& plan) {
  std::vector<std::size_t> last(plan.models.size(), 0);
  for (std::size_t m = 0; m < plan.models.size(); ++m) {
    for (std::size_t k = 0; k < plan.launches.size(); ++k) {
      if (plan.launches[k].model == plan.models[m].name) last[m] = k;
    }
  }
  return last;
}

}  // namespace fm
