#pragma once
// What is known of a launch without running it: its signature, by which profiles are kept, and the
// numbers that slowdowns are learnt from.

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Kernel, parameters but STREAMS, geometry, scalar arguments, form and place of its tensors,
/// storage and accumulator types: launches with one signature take the same time.
std::string launch_signature(const Plan& plan, const PlanLaunch& launch);

/// Bytes of its tensor arguments, each once.
struct LaunchTraffic {
  Bytes image_read, buffer_read, written;
  Bytes read() const { return image_read + buffer_read; }
};
LaunchTraffic launch_traffic(const Plan& plan, const PlanLaunch& launch);

/// Of a bare launch, in the order of launch_feature_names(): logarithms (base 2) of work-items,
/// work-groups, work-items a group, multiply-accumulates (in all and a work-item) and bytes by way,
/// tile sizes, and which kernel it is.
std::vector<float> launch_features(const Plan& plan, const PlanLaunch& launch);
const std::vector<std::string>& launch_feature_names();

}  // namespace fm
