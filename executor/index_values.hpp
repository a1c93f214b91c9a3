#pragma once
// Values of the integer tensors that kernels index with, for the trace.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// A weight's values from the .fmw file ("": there is none), a model input's from `inputs` (by
/// tensor id). Throws UserError for a weight without a file, and for a tensor that the network
/// itself computes: its values are gone after the run.
std::vector<std::int32_t> index_values(
    const Plan& plan, const PlanTensor& tensor, const std::string& weights_path,
    const std::map<std::string, std::vector<std::int32_t>>& inputs);

}  // namespace fm
