#include "executor/plan_names.hpp"

namespace fm {

std::string named(const PlanLaunch& launch) {
  const bool copy = launch.kind == LaunchKind::copy;
  return "launch " + launch.id + " (" + (copy ? "copy to image" : launch.kernel) + ")";
}

std::string named(const PlanTensor& tensor) {
  return std::string(tensor.role == TensorRole::weight ? "weight " : "tensor ") + tensor.id + " (" +
         tensor.name + ")";
}

std::string named(const Pool& pool) { return "pool " + pool.id; }

}  // namespace fm
