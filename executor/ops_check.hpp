#pragma once
// Compares, after each launch of a run, what it wrote with a host's reference.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/model_arrays.hpp"
#include "executor/plan_executor.hpp"

namespace fm {

/// The reference has tensor:<name> of every tensor of the model that launches write, and
/// half_error:<name>. What was compared is then replaced by the reference, so that each launch is
/// judged on right inputs: its error is its own. Of a tensor that the plan stores in another order
/// than the model the values are compared, not their places; the launches that read it show those.
///
/// The plan must run with enqueue_ahead = 1, so that a launch's results are still there.
class OpsCheck : public LaunchObserver {
 public:
  /// Throws UserError when the files have none of the tensors. All arguments must outlive this.
  OpsCheck(const Plan& plan, PlanExecutor& executor, const ModelFiles& references, BarKind bars,
           std::optional<double> tolerance);

  void launch_starts(std::size_t launch) override;
  void launch_done(std::size_t launch) override;

  /// A line a launch and tensor.
  std::string summary() const;
  /// Throws VerificationError naming the first launch that differs.
  void require_passed() const;

 private:
  struct Row {
    std::size_t launch = 0;
    std::string tensor;  ///< PlanTensor::id
    bool compared = false;
    bool as_set = false;  ///< values without their places
    OutputComparison comparison;
    double largest_difference = 0;
    bool passes() const { return !compared || comparison.passes(); }
  };
  /// What a tensor should hold, perhaps in another order; none where the file does not say.
  std::optional<NpyArray> reference_of(const PlanTensor& tensor);
  double bar_of(const PlanTensor& tensor);
  void compare(std::size_t launch, const PlanTensor& tensor);
  bool last_write(std::size_t launch, const std::string& tensor) const;
  /// Tensors that a launch reads and that were not compared.
  std::string unknown_inputs(const PlanLaunch& launch) const;
  std::string row_text(const Row& row) const;

  const Plan& plan_;
  PlanExecutor& executor_;
  OpenFiles references_;
  const BarKind bars_;
  const std::optional<double> tolerance_;
  std::map<std::string, std::vector<std::size_t>> writers_;  // launches by tensor, in order
  std::vector<Row> rows_;
  // Of the tensors that several launches write: where a value was when the launch began.
  std::map<std::string, std::vector<bool>> written_;
};

}  // namespace fm
