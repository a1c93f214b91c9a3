#pragma once
// Texture or buffer, weight by weight: a buffer needs no move to texture memory, a texture may make
// its kernels faster.

#include <vector>

#include "core/plan.hpp"
#include "planner/overlap/device_costs.hpp"
#include "planner/profile/slowdown.hpp"

namespace fm {

/// A plan of kernels and what its launches cost.
struct PricedPlan {
  Plan plan;
  std::vector<LaunchProfile> launches;
};

/// `images` with those weights in buffers whose launches, as priced in `buffers`, take no longer
/// there than the copy to an image adds. Both are drafts of one network, with the same tensors;
/// the weights that only `buffers` has in buffers may move. Launches are priced as in the plan
/// whose placement their weights follow. `uses` of weights must be set.
PricedPlan choose_weight_placement(const PricedPlan& images, const PricedPlan& buffers,
                                   const DeviceCosts& costs);

}  // namespace fm
