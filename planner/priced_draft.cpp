#include "planner/priced_draft.hpp"

#include <utility>

namespace fm {
namespace {

Plan reordered_draft(const ImportedModel& imported, const DeviceConfig& config,
                     const PlanOptions& options, const UnfusedNodes& unfused) {
  Plan plan = draft_plan(imported, config, options, unfused).plan;
  reorder_where_smaller(&plan);
  return plan;
}

}  // namespace

PricedDraft priced_draft(const ImportedModel& imported, const DeviceConfig& config,
                         const PlanOptions& options, const ProfileFiles& profile,
                         bool choose_placement, const UnfusedNodes& unfused) {
  PlanDraft draft = draft_plan(imported, config, options, unfused);
  reorder_where_smaller(&draft.plan);
  PricedDraft result;
  result.splits = std::move(draft.splits);
  // A run's times are of the plan in which all is fused.
  result.profiles = !unfused.empty() && profile.file && is_run_result(*profile.file)
                        ? launch_profiles_from_run(draft.plan, config, profile,
                                                   reordered_draft(imported, config, options, {}))
                        : launch_profiles(draft.plan, config, profile);
  result.priced = {std::move(draft.plan), result.profiles.launches};
  if (!result.profiles.by_signature || options.placement != PlacementPolicy::automatic ||
      !choose_placement) {
    return result;
  }
  PlanOptions other = options;
  other.placement = PlacementPolicy::buffer_weights;
  Plan buffers = reordered_draft(imported, config, other, unfused);
  std::vector<LaunchProfile> times = launch_profiles(buffers, config, profile).launches;
  const DeviceCosts costs(config, result.profiles.copy_nanoseconds_per_byte);
  result.priced =
      choose_weight_placement(result.priced, {std::move(buffers), std::move(times)}, costs);
  place_tensors(&result.priced.plan);
  return result;
}

}  // namespace fm
