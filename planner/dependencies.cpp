#include "planner/dependencies.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fm {
namespace {

bool share_bytes(const PlanTensor& a, const PlanTensor& b) {
  if (a.pool.empty() || a.pool != b.pool) return false;
  if (a.placement == Placement::image2d) return true;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

class DependencyFinder {
 public:
  explicit DependencyFinder(Plan* plan) : plan_(plan) {
    for (std::size_t i = 0; i < plan->tensors.size(); ++i) tensors_[plan->tensors[i].id] = i;
    users_.resize(plan->tensors.size());
    writer_.resize(plan->tensors.size(), none);
    fillers_.resize(plan->tensors.size());
    ancestors_.resize(plan->launches.size());
    for (const WeightSlice& slice : plan->weights) {
      for (const WeightTransform& transform : slice.transforms) {
        filled_[transform.launch].insert(tensors_.at(slice.tensor));
      }
    }
  }

  void run() {
    for (std::size_t i = 0; i < plan_->launches.size(); ++i) {
      PlanLaunch& launch = plan_->launches[i];
      std::set<std::size_t> before;
      for (const std::size_t weight : filled_[launch.id]) {
        before.insert(fillers_[weight].begin(), fillers_[weight].end());
        fillers_[weight].push_back(i);
      }
      for (const LaunchArgument& argument : launch.arguments) {
        if (const auto* used = std::get_if<TensorArgument>(&argument)) {
          collect(tensors_.at(used->tensor), used->write, &before);
        }
      }
      before.erase(i);
      note(i, launch);
      reduce(i, before, &launch.depends);
    }
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void collect(std::size_t tensor, bool write, std::set<std::size_t>* before) const {
    if (writer_[tensor] != none) before->insert(writer_[tensor]);
    before->insert(fillers_[tensor].begin(), fillers_[tensor].end());
    if (!write || writer_[tensor] != none) return;
    for (std::size_t other = 0; other < plan_->tensors.size(); ++other) {
      if (other == tensor || users_[other].empty()) continue;
      if (share_bytes(plan_->tensors[tensor], plan_->tensors[other])) {
        before->insert(users_[other].begin(), users_[other].end());
      }
    }
  }

  void note(std::size_t position, const PlanLaunch& launch) {
    for (const LaunchArgument& argument : launch.arguments) {
      const auto* used = std::get_if<TensorArgument>(&argument);
      if (used == nullptr) continue;
      const std::size_t tensor = tensors_.at(used->tensor);
      users_[tensor].push_back(position);
      if (used->write) writer_[tensor] = position;
    }
  }

  /// Keeps the launches of `before` that no other of them follows.
  void reduce(std::size_t position, const std::set<std::size_t>& before,
              std::vector<std::string>* depends) {
    std::set<std::size_t>& ancestors = ancestors_[position];
    depends->clear();
    for (auto candidate = before.rbegin(); candidate != before.rend(); ++candidate) {
      if (ancestors.count(*candidate) != 0) continue;
      depends->push_back(plan_->launches[*candidate].id);
      ancestors.insert(*candidate);
      ancestors.insert(ancestors_[*candidate].begin(), ancestors_[*candidate].end());
    }
    std::reverse(depends->begin(), depends->end());
  }

  Plan* plan_;
  std::map<std::string, std::size_t> tensors_;
  std::vector<std::vector<std::size_t>> users_;          ///< launches that touch a tensor
  std::vector<std::size_t> writer_;                      ///< its latest writer
  std::map<std::string, std::set<std::size_t>> filled_;  ///< weights whose chunks a launch moves
  std::vector<std::vector<std::size_t>> fillers_;        ///< launches that did so for a weight
  std::vector<std::set<std::size_t>> ancestors_;
};

}  // namespace

void set_dependencies(Plan* plan) { DependencyFinder(plan).run(); }

}  // namespace fm
