#include "planner/overlap/weight_placement.hpp"

#include <map>
#include <set>

namespace fm {
namespace {

/// Launches by the weight they use, as far as that weight may move.
std::map<std::string, std::vector<std::size_t>> users_of_movable(const Plan& images,
                                                                 const Plan& buffers) {
  std::set<std::string> movable;
  for (const PlanTensor& tensor : images.tensors) {
    if (tensor.role == TensorRole::weight && tensor.placement == Placement::image2d &&
        buffers.tensor(tensor.id).placement == Placement::buffer) {
      movable.insert(tensor.id);
    }
  }
  std::map<std::string, std::vector<std::size_t>> users;
  for (std::size_t k = 0; k < images.launches.size(); ++k) {
    std::set<std::string> used;
    for (const LaunchArgument& argument : images.launches[k].arguments) {
      const auto* tensor = std::get_if<TensorArgument>(&argument);
      if (tensor != nullptr && movable.count(tensor->tensor) != 0) used.insert(tensor->tensor);
    }
    // A launch with two such weights is priced for both in one place only.
    if (used.size() > 1) return {};
    for (const std::string& weight : used) users[weight].push_back(k);
  }
  return users;
}

/// Tensors a launch touches, in the order of its arguments.
std::vector<std::string> touched(const PlanLaunch& launch) {
  std::vector<std::string> tensors;
  for (const LaunchArgument& argument : launch.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
      tensors.push_back(tensor->tensor);
    }
  }
  return tensors;
}

bool same_network(const Plan& a, const Plan& b) {
  if (a.launches.size() != b.launches.size() || a.tensors.size() != b.tensors.size()) return false;
  for (std::size_t k = 0; k < a.launches.size(); ++k) {
    const PlanLaunch &x = a.launches[k], &y = b.launches[k];
    if (x.id != y.id || x.operation != y.operation || touched(x) != touched(y)) return false;
  }
  return true;
}

}  // namespace

PricedPlan choose_weight_placement(const PricedPlan& images, const PricedPlan& buffers,
                                   const DeviceCosts& costs) {
  PricedPlan chosen = images;
  if (!same_network(images.plan, buffers.plan)) return chosen;
  const CopyCost copy = costs.copy();
  std::set<std::string> moved;
  for (const auto& [weight, users] : users_of_movable(images.plan, buffers.plan)) {
    double longer = 0;
    for (const std::size_t k : users) {
      longer += static_cast<double>(buffers.launches[k].time.count()) -
                static_cast<double>(images.launches[k].time.count());
    }
    const double bytes = static_cast<double>(images.plan.tensor(weight).bytes.count());
    const double copying =
        static_cast<double>(copy.base.count()) + copy.nanoseconds_per_byte * bytes;
    if (longer > copying) continue;
    moved.insert(weight);
    for (const std::size_t k : users) {
      chosen.launches[k] = buffers.launches[k];
      chosen.plan.launches[k] = buffers.plan.launches[k];  // its kernel is made for buffers
    }
  }
  for (PlanTensor& tensor : chosen.plan.tensors) {
    if (moved.count(tensor.id) != 0) tensor.placement = Placement::buffer;
  }
  return chosen;
}

}  // namespace fm
