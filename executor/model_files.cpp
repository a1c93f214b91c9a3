#include "executor/model_files.hpp"

#include "core/diagnostics.hpp"

namespace fm {
namespace {

/// The model whose name and "=" the value begins with; null when there is none.
const PlanModel* named_model(const Plan& plan, const std::string& value) {
  const PlanModel* named = nullptr;
  for (const PlanModel& model : plan.models) {
    if (value.rfind(model.name + "=", 0) != 0) continue;
    if (named == nullptr || named->name.size() < model.name.size()) named = &model;
  }
  return named;
}

std::string names_of(const Plan& plan) {
  std::string names;
  for (const PlanModel& model : plan.models) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

}  // namespace

ModelFiles model_files(const Plan& plan, const std::string& option,
                       const std::vector<std::string>& values) {
  ModelFiles files;
  for (const std::string& value : values) {
    const PlanModel* model = named_model(plan, value);
    std::string file = value;
    if (model != nullptr) {
      file = value.substr(model->name.size() + 1);
    } else if (plan.models.size() == 1) {
      model = &plan.models.front();
    } else {
      throw UserError(option + " " + value + ": the plan is of the models " + names_of(plan) +
                      "; give " + option + " MODEL=FILE for each");
    }
    if (!files.emplace(model->name, file).second) {
      throw UserError(option + ": two files are given for model " + model->name);
    }
  }
  return files;
}

const std::string& model_of(const Plan& plan, const PlanTensor& tensor) {
  return tensor.model.empty() ? plan.models.at(0).name : tensor.model;
}

}  // namespace fm
