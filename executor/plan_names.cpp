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

std::vector<const TensorArgument*> tensors_in(const PlanLaunch& launch) {
  std::vector<const TensorArgument*> found;
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument)) found.push_back(tensor);
  }
  return found;
}

std::string title(const PlanLaunch& launch) {
  std::string text = "launch " + launch.id + " (" + launch.kernel + ", " + launch.operation;
  for (std::size_t i = 0; i < launch.nodes.size(); ++i) {
    text += (i > 0                     ? ", `"
             : launch.nodes.size() > 1 ? " of nodes `"
                                       : " of node `") +
            launch.nodes[i] + "`";
  }
  return text + ")";
}

}  // namespace fm
