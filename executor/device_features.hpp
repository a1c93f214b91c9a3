#pragma once
// What a device offers beyond the least that OpenCL 1.2 asks for, found by query, and what fmexec
// makes of it.

#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/trace.pb.h"
#include "executor/opencl_objects.hpp"

namespace fm {

struct DeviceFeature {
  std::string name;    ///< "images", or an extension's own name
  std::string found;   ///< what the query said: "yes", "16384 x 16384 texels"; "no" when absent
  bool used = false;   ///< by the run
  std::string reason;  ///< why it is used, or why not
};

/// What there is, with what fmexec uses it for; `used` is never set.
std::vector<DeviceFeature> device_features(const OpenClDevice& device);
/// The same, as a run of this plan uses it.
std::vector<DeviceFeature> features_used(const OpenClContext& context, const Plan& plan);

/// A line each: name, what was found, used or not and why; `indent` in front.
std::string describe(const std::vector<DeviceFeature>& features, const std::string& indent);
void add_features(const std::vector<DeviceFeature>& features, trace::Header* header);

}  // namespace fm
