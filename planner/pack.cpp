#include "planner/pack.hpp"

#include <memory>
#include <optional>
#include <set>

#include "core/diagnostics.hpp"
#include "core/weights_file.hpp"
#include "planner/make_plan.hpp"
#include "planner/model_file.hpp"
#include "planner/plan_flags.hpp"
#include "planner/weight_source.hpp"

namespace fm {
namespace {

/// A model's own tensors: of a plan of one model all.
bool is_of(const PlanTensor& tensor, const Plan& plan, const PlanModel& model) {
  return plan.models.size() == 1 || tensor.model == model.name;
}

ShapeBindings bindings_of(const Plan& plan, const PlanModel& model) {
  ShapeBindings bindings;
  for (const std::string& value : model.values) bind_value(value, &bindings);
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.role != TensorRole::input || !is_of(tensor, plan, model)) continue;
    bindings.inputs[tensor.name] = tensor.shape;
  }
  return bindings;
}

/// The files by digest. Each must be of the plan, and each model of the plan among them.
std::map<std::string, std::string> files_by_digest(const Plan& plan,
                                                   const std::vector<std::string>& model_paths) {
  std::map<std::string, std::string> wanted;
  for (const PlanModel& model : plan.models) wanted[model.digest] = model.file;
  std::map<std::string, std::string> files;
  for (const std::string& path : model_paths) {
    const std::string digest = read_model_file(path).digest;
    if (wanted.count(digest) == 0) {
      std::string wants;
      for (const auto& [known, file] : wanted) {
        wants += (wants.empty() ? "" : ", ") + known + " (" + file + ")";
      }
      throw UserError(SourceLocation{path, 0, 0}, "is not the model of the plan: its digest is " +
                                                      digest + ", the plan wants " + wants);
    }
    files[digest] = path;
  }
  for (const auto& [digest, file] : wanted) {
    if (files.count(digest) == 0) {
      throw UserError("the plan's model " + file + " (" + digest + ") is missing: give --model " +
                      file);
    }
  }
  return files;
}

/// The plan's models as far as weights of theirs are asked for, one at a time in memory.
class QueueSource {
 public:
  QueueSource(const Plan& plan, std::map<std::string, std::string> files)
      : plan_(plan), files_(std::move(files)) {}

  std::vector<std::uint8_t> packed(const PlanTensor& tensor) {
    const PlanModel& model = model_of(tensor);
    if (&model != current_) {
      source_.reset();
      model_.emplace(import_and_fuse(files_.at(model.digest), bindings_of(plan_, model)));
      source_.emplace(*model_);
      current_ = &model;
    }
    return source_->packed(tensor);
  }

 private:
  const PlanModel& model_of(const PlanTensor& tensor) const {
    for (const PlanModel& model : plan_.models) {
      if (is_of(tensor, plan_, model)) return model;
    }
    throw UserError("weight " + tensor.id + " belongs to no model of the plan");
  }

  const Plan& plan_;
  const std::map<std::string, std::string> files_;
  const PlanModel* current_ = nullptr;
  std::optional<ImportedModel> model_;
  std::optional<WeightSource> source_;
};

}  // namespace

void pack_weights(const Plan& plan, const std::vector<std::string>& model_paths,
                  const std::string& output,
                  const std::function<void(std::size_t, std::size_t)>& on_slice) {
  QueueSource source(plan, files_by_digest(plan, model_paths));
  const WeightsIndex index = expected_index(plan);
  if (index_digest(index) != plan.weights_index_digest) {
    throw UserError(
        "the plan's weights_index_digest does not match its weights: it was edited; the digest of "
        "the edited weights is " +
        index_digest(index));
  }
  const std::vector<std::size_t> stored = stored_entries(index.entries);
  WeightsWriter writer(output, index);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] == i) writer.append(source.packed(plan.tensor(plan.weights[i].tensor)));
    if (on_slice) on_slice(i + 1, stored.size());
  }
  writer.finish();
}

}  // namespace fm
