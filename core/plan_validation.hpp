#pragma once
// validate() with the places of the plan's items in its file, so that errors can name line and
// column.

#include <vector>

#include "core/diagnostics.hpp"
#include "core/plan.hpp"

namespace fm {

/// Where each item of a plan was read, index by index; empty for a plan that was built in memory.
struct PlanPlaces {
  std::vector<SourceLocation> pools, tensors, weights, gathers, launches;
};

void validate(const Plan& plan, const PlanPlaces& places);

}  // namespace fm
