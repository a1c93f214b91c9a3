#include "planner/movement_report.hpp"

#include <algorithm>

#include "kernels/index_function.hpp"
#include "planner/layout/operator_class.hpp"

namespace fm {
namespace {

/// Also unary kernels without an activation: they copy from one storage to another.
bool only_moves(const PlanLaunch& launch) {
  if (launch.kernel == "move" || launch.kernel == "place") return true;
  const auto activation = launch.parameters.find("ACTIVATION");
  return launch.kernel == "unary" && activation != launch.parameters.end() &&
         activation->second == "NONE" && launch.parameters.at("RESIDUAL") == "NONE";
}

/// Elements a moving launch brings over: all that it writes, or a part of that as large as what it
/// reads.
std::int64_t moved_elements(const Plan& plan, const PlanLaunch& launch) {
  std::int64_t fewest = -1;
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used == nullptr) continue;
    if (launch.kernel == "move" && !used->write) continue;
    const std::int64_t count = element_count(plan.tensor(used->tensor).shape);
    fewest = fewest < 0 ? count : std::min(fewest, count);
  }
  return std::max<std::int64_t>(fewest, 0);
}

}  // namespace

std::map<std::string, std::size_t> operators_by_class(const Graph& graph) {
  std::map<std::string, std::size_t> counts;
  for (const GraphNode& node : graph.nodes) ++counts[to_string(layout_class(graph, node))];
  return counts;
}

MovementTotals movement_totals(const Plan& plan) {
  MovementTotals totals;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind != LaunchKind::kernel) continue;
    for (const auto& [name, value] : launch.parameters) {
      if (indexed_argument(name)) ++totals.index_functions;
    }
    if (!only_moves(launch)) continue;
    ++totals.launches;
    const auto count = static_cast<std::uint64_t>(moved_elements(plan, launch));
    for (const LaunchArgument& argument : launch.arguments) {
      if (const auto* used = std::get_if<TensorArgument>(&argument)) {
        totals.bytes += size_of(plan.tensor(used->tensor).dtype) * count;
      }
    }
  }
  return totals;
}

}  // namespace fm
