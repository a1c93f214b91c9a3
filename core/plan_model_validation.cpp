#include "core/plan_index.hpp"

namespace fm {
namespace {

class ModelValidation {
 public:
  explicit ModelValidation(const PlanIndex& index) : index_(index), plan_(index.plan()) {}

  void run() const {
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      check(PlanItem::tensor, i, plan_.tensors[i].model);
    }
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      check(PlanItem::launch, i, plan_.launches[i].model);
      check_arguments(i);
    }
  }

 private:
  void check(PlanItem item, std::size_t i, const std::string& model) const {
    if (model.empty() && plan_.models.size() > 1) {
      index_.fail(item, i, "key model is missing: the plan is of several models");
    }
    if (!model.empty() && !index_.has_model(model)) {
      index_.fail(item, i, "model '" + model + "' is not among the plan's models");
    }
  }

  void check_arguments(std::size_t i) const {
    const PlanLaunch& launch = plan_.launches[i];
    for (const LaunchArgument& argument : launch.arguments) {
      const auto* used = std::get_if<TensorArgument>(&argument);
      const auto position = used ? index_.find_tensor(used->tensor) : std::nullopt;
      if (!position || plan_.models.size() < 2) continue;
      const PlanTensor& tensor = plan_.tensors[*position];
      if (tensor.role == TensorRole::weight || tensor.model == launch.model) continue;
      index_.fail(PlanItem::launch, i,
                  "is of model '" + launch.model + "', but touches tensor '" + tensor.id +
                      "' of model '" + tensor.model + "'");
    }
  }

  const PlanIndex& index_;
  const Plan& plan_;
};

}  // namespace

void validate_models_of(const PlanIndex& index) { ModelValidation(index).run(); }

}  // namespace fm
