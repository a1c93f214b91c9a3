#pragma once
// Inputs and outputs of all models of a plan, as arrays of files and compared with references.

#include <map>
#include <ostream>
#include <string>

#include "core/plan.hpp"
#include "executor/fmexec_options.hpp"
#include "executor/model_files.hpp"
#include "executor/model_io.hpp"

namespace fm {

using ArraysByTensor = std::map<std::string, NpyArray>;  ///< by PlanTensor::id

/// The files that fmexec's options name, by model.
struct ArrayFiles {
  ArrayFiles(const Plan& plan, const FmexecOptions& options);
  ModelFiles inputs;      ///< of --inputs, else of --verify, else of --verify-ops
  ModelFiles references;  ///< of --verify
  ModelFiles outputs;     ///< of --outputs
  ModelFiles tensors;     ///< of --verify-ops
};

/// Files as they are asked for, each opened once.
class OpenFiles {
 public:
  explicit OpenFiles(const ModelFiles& files) : files_(files) {}
  /// Null when the tensor's model has none.
  const NpzReader* of(const Plan& plan, const PlanTensor& tensor);

 private:
  const ModelFiles& files_;
  std::map<std::string, NpzReader> readers_;
};

BarKind bars_of(const FmexecOptions& options);

/// A model's inputs of its file, or random ones. Throws UserError.
ArraysByTensor make_inputs(const Plan& plan, const ArrayFiles& files, const FmexecOptions& options);

/// Compares each output that has a reference and prints how far it is; returns whether all pass.
/// Throws UserError when a file lacks the array or its bar.
bool verify_outputs(const Plan& plan, const ArraysByTensor& outputs, const ArrayFiles& files,
                    const FmexecOptions& options, std::ostream& out);

/// What verify_outputs() would refuse is refused before the run, not after it.
void check_references(const Plan& plan, const ArrayFiles& files, const FmexecOptions& options);

/// Writes output:<name> arrays to each model's file.
void write_outputs(const Plan& plan, const ArraysByTensor& outputs, const ArrayFiles& files);

}  // namespace fm
