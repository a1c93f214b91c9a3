#include "executor/model_arrays.hpp"

#include "executor/streamer/gathered_rows.hpp"

namespace fm {
namespace {

void print(const OutputComparison& comparison, const std::string& name, std::ostream& out) {
  out << "verify               output " << name << ": relative error " << comparison.relative_error
      << ", bar " << comparison.bar;
  if (comparison.nan_count > 0) out << ", " << comparison.nan_count << " NaN";
  if (comparison.beyond_half > 0) out << ", " << comparison.beyond_half << " beyond half's range";
  out << (comparison.passes() ? ": passed\n" : ": FAILED\n");
}

}  // namespace

const NpzReader* OpenFiles::of(const Plan& plan, const PlanTensor& tensor) {
  const auto file = files_.find(model_of(plan, tensor));
  if (file == files_.end()) return nullptr;
  const auto open = readers_.find(file->first);
  if (open != readers_.end()) return &open->second;
  return &readers_.try_emplace(file->first, file->second).first->second;
}

BarKind bars_of(const FmexecOptions& options) {
  return options.half_bars ? BarKind::half_error : BarKind::by_storage;
}

ArrayFiles::ArrayFiles(const Plan& plan, const FmexecOptions& options)
    : inputs(model_files(plan, "--inputs", options.inputs)),
      references(model_files(plan, "--verify", options.verify)),
      outputs(model_files(plan, "--outputs", options.outputs)),
      tensors(model_files(plan, "--verify-ops", options.verify_ops)) {
  inputs.insert(references.begin(), references.end());
  inputs.insert(tensors.begin(), tensors.end());
}

ArraysByTensor make_inputs(const Plan& plan, const ArrayFiles& files,
                           const FmexecOptions& options) {
  OpenFiles readers(files.inputs);
  ArraysByTensor inputs;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::input)) {
    const std::int64_t rows = rows_indexed_by(plan, *tensor);
    const NpzReader* file = readers.of(plan, *tensor);
    inputs[tensor->id] = file != nullptr ? input_from(*file, plan, *tensor)
                                         : random_input(*tensor, options.seed, rows > 0 ? rows : 2);
  }
  return inputs;
}

bool verify_outputs(const Plan& plan, const ArraysByTensor& outputs, const ArrayFiles& files,
                    const FmexecOptions& options, std::ostream& out) {
  OpenFiles references(files.references);
  bool passes = true;
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
    const NpzReader* reference = references.of(plan, *tensor);
    if (reference == nullptr) continue;
    const OutputComparison comparison =
        compare_output(*reference, *tensor, outputs.at(tensor->id), plan.storage, bars_of(options),
                       options.tolerance);
    passes = passes && comparison.passes();
    const bool several = plan.models.size() > 1;
    print(comparison, (several ? tensor->model + ":" : std::string()) + comparison.name, out);
  }
  return passes;
}

void check_references(const Plan& plan, const ArrayFiles& files, const FmexecOptions& options) {
  OpenFiles references(files.references);
  for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
    const NpzReader* reference = references.of(plan, *tensor);
    if (reference == nullptr) continue;
    compare_output(*reference, *tensor, random_input(*tensor, options.seed), plan.storage,
                   bars_of(options), options.tolerance);
  }
}

void write_outputs(const Plan& plan, const ArraysByTensor& outputs, const ArrayFiles& files) {
  for (const auto& [model, file] : files.outputs) {
    std::map<std::string, const NpyArray*> arrays;
    for (const PlanTensor* tensor : tensors_of(plan, TensorRole::output)) {
      if (model_of(plan, *tensor) == model)
        arrays["output:" + tensor->name] = &outputs.at(tensor->id);
    }
    write_npz(file, arrays);
  }
}

}  // namespace fm
