#pragma once
// Looks, after each launch of a run, for the first value that is no finite number.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "executor/finite_values.hpp"
#include "executor/model_arrays.hpp"
#include "executor/plan_executor.hpp"

namespace fm {

/// NaN that a launch writes is always wrong. An infinity is, unless one of the same sign was in
/// what the launch read: masks add -inf to scores, and a copy of such a mask is no overflow.
///
/// The plan must run with enqueue_ahead = 1, so that a launch's results are still there.
class FiniteCheck : public LaunchObserver {
 public:
  /// Reads all weights once. Throws VerificationError for an input that its storage turns into an
  /// infinity. `plan` and `executor` must outlive this.
  FiniteCheck(const Plan& plan, PlanExecutor& executor, const ArraysByTensor& inputs,
              const std::string& weights_path);

  /// The model's inputs and weights that are not finite: "weight `mask` holds -inf at [0, 1] ..".
  const std::vector<std::string>& notes() const { return notes_; }
  void launch_starts(std::size_t launch) override;
  /// Throws VerificationError saying where the first such value is and what it comes from.
  void launch_done(std::size_t launch) override;
  /// What was checked, and how near to the end of the storage's range it came.
  std::string summary() const;

 private:
  void look_at_inputs(const ArraysByTensor& inputs);
  void look_at_weights(const std::string& path);
  /// Of what the launch reads, and of the parts of its results that earlier launches wrote.
  bool was_there(const PlanLaunch& launch, NonFinite kind) const;
  [[noreturn]] void fail(const PlanLaunch& launch, const PlanTensor& result,
                         const FiniteFacts& facts, NonFinite kind) const;
  std::string inputs_of(const PlanLaunch& launch) const;

  const Plan& plan_;
  PlanExecutor& executor_;
  std::map<std::string, FiniteFacts> known_;    // by tensor, once it has values
  std::map<std::string, std::size_t> writers_;  // launches that write a tensor
  std::vector<std::string> notes_;
  std::size_t checked_ = 0;  // launches
  float largest_ = 0;
  std::string largest_in_;
};

}  // namespace fm
