#pragma once
// A plan that runs launches of other plans on their own, bare and with weights streamed inside:
// what is profiled.

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// One launch to be measured with so many bytes streamed inside; 0: bare.
struct ProfiledVariant {
  const Plan* plan = nullptr;
  const PlanLaunch* launch = nullptr;
  Bytes streamed;
};

struct ProfilePlan {
  Plan plan;
  std::vector<std::string> launches;       ///< id of each variant's launch in `plan`
  std::vector<Bytes> streamed;             ///< what it really streams: whole rows of an image
  std::vector<std::string> prepared_from;  ///< first of the launches that write its activations
};

/// Before each variant a launch reads more weights than caches hold, and its activations are
/// written by launches of their own, inputs after outputs, so that it finds caches and translations
/// as in its network, whatever the variant before it did; its weights are its own and in no cache.
/// What is streamed is a weight of its own, used by a small launch later. All variants must be of
/// plans with one storage type and one accumulator type. Throws UserError otherwise.
ProfilePlan make_profile_plan(const std::vector<ProfiledVariant>& variants);

/// Weights for it: small numbers, the same every time.
void write_profile_weights(const Plan& plan, const std::string& path);

}  // namespace fm
