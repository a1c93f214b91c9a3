#pragma once
// What fmplan says about a plan it made.

#include <string>

#include "core/plan.hpp"

namespace fm {

/// A few lines for people.
std::string plan_summary(const Plan& plan);
/// The same facts as JSON: launches, kernels by operation, macs, bytes of weights by residency,
/// peak claims.
std::string plan_summary_json(const Plan& plan);

}  // namespace fm
