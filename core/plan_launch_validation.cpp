#include "core/plan_index.hpp"

namespace fm {
namespace {

class LaunchValidation {
 public:
  explicit LaunchValidation(const PlanIndex& index)
      : index_(index), plan_(index.plan()), uses_(plan_.tensors.size()) {}

  std::vector<TensorUses> run() {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) check_launch(i);
    return uses_;
  }

 private:
  void check_launch(std::size_t i) {
    const PlanLaunch& launch = plan_.launches[i];
    for (const std::string& id : launch.depends) {
      if (index_.known_launch(PlanItem::launch, i, "depends", id) >= i) {
        index_.fail(PlanItem::launch, i, "depends on launch '" + id + "', which is not before it");
      }
    }
    if (launch.kind == LaunchKind::copy) return check_copy_launch(i);
    if (launch.kernel.empty()) index_.fail(PlanItem::launch, i, "kernel is empty");
    if (!launch.weight.empty()) index_.fail(PlanItem::launch, i, "only a copy launch has a weight");
    for (std::size_t d = 0; d < 3; ++d) {
      if (launch.local[d] == 0 || launch.global[d] == 0 ||
          launch.global[d] % launch.local[d] != 0) {
        index_.fail(PlanItem::launch, i,
                    "global must be a multiple of local, both above 0, in every dimension");
      }
    }
    // Reads first: a launch does not feed itself.
    for (const bool write : {false, true}) {
      for (const LaunchArgument& argument : launch.arguments) note_argument(i, argument, write);
    }
  }

  void note_argument(std::size_t i, const LaunchArgument& argument, bool write) {
    if (const auto* local = std::get_if<LocalArgument>(&argument)) {
      if (local->bytes == Bytes(0))
        index_.fail(PlanItem::launch, i, "a local argument needs at least 1 B");
    }
    const auto* used = std::get_if<TensorArgument>(&argument);
    if (used == nullptr || used->write != write) return;
    const std::optional<std::size_t> position = index_.find_tensor(used->tensor);
    if (!position) {
      index_.fail(PlanItem::launch, i,
                  "argument names tensor '" + used->tensor + "', which the plan lacks");
    }
    const PlanTensor& tensor = plan_.tensors[*position];
    TensorUses& uses = uses_[*position];
    const bool given = tensor.role == TensorRole::input || tensor.role == TensorRole::weight ||
                       tensor.role == TensorRole::gathered;
    if (write && given) {
      index_.fail(PlanItem::launch, i,
                  "writes tensor '" + tensor.id + "', whose role is " + to_string(tensor.role));
    }
    if (!write && !given && !uses.first_write) {
      index_.fail(PlanItem::launch, i,
                  "reads tensor '" + tensor.id + "', which no launch before it writes");
    }
    if (!uses.first) uses.first = i;
    if (write && !uses.first_write) uses.first_write = i;
    uses.last = i;
  }

  void check_copy_launch(std::size_t i) const {
    const PlanLaunch& launch = plan_.launches[i];
    if (!launch.kernel.empty()) index_.fail(PlanItem::launch, i, "a copy launch has no kernel");
    const std::optional<std::size_t> position = index_.find_tensor(launch.weight);
    if (!position || plan_.tensors[*position].role != TensorRole::weight) {
      index_.fail(PlanItem::launch, i,
                  "weight '" + launch.weight + "' is not a weight of the plan");
    }
  }

  const PlanIndex& index_;
  const Plan& plan_;
  std::vector<TensorUses> uses_;
};

}  // namespace

std::vector<TensorUses> validate_launches_of(const PlanIndex& index) {
  return LaunchValidation(index).run();
}

}  // namespace fm
