#pragma once
// Whether a plan fits a device, before anything is created on it: drivers answer what does not with
// various codes, late, or not at all.

#include "core/plan.hpp"
#include "executor/opencl_device.hpp"

namespace fm {

/// Throws UserError naming the tensor, pool or launch and the device's limit: image sizes,
/// allocation sizes, sub-buffer alignment, work-group sizes, local memory, half arithmetic.
void check_device_limits(const Plan& plan, const OpenClDevice& device);

}  // namespace fm
