#pragma once
// What messages call the parts of a plan.

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// "launch L3 (matmul)".
std::string named(const PlanLaunch& launch);
/// "weight t7 (fc.weight)"; tensors that are no weights are called tensor.
std::string named(const PlanTensor& tensor);
/// "pool buffer0".
std::string named(const Pool& pool);

/// "launch L3 (matmul, MatMul of node `fc`)".
std::string title(const PlanLaunch& launch);
/// The launch's tensor arguments.
std::vector<const TensorArgument*> tensors_in(const PlanLaunch& launch);

}  // namespace fm
