#pragma once
// By which profiles are kept: launches with one signature take the same time.

#include <string>

#include "core/plan.hpp"

namespace fm {

/// Kernel, parameters but STREAMS, geometry, scalar arguments, form and place of its tensors,
/// storage and accumulator types.
std::string launch_signature(const Plan& plan, const PlanLaunch& launch);

}  // namespace fm
