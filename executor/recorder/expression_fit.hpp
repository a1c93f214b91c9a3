#pragma once
// Finding the integer expression behind every operand of a recorded kernel: guess on few samples,
// walk the logs, add what was mispredicted, guess again. Ends with expressions that hold on every
// sample of the logs walked.

#include <cstdint>
#include <random>
#include <vector>

#include "executor/recorder/access_tree.hpp"
#include "executor/recorder/linear_fit.hpp"
#include "executor/recorder/synthesised_terms.hpp"

namespace fm {

/// What an expression was found to be: form + sum of coefficient * term.
struct FittedExpression {
  SlotForm form;
  std::vector<std::pair<std::int64_t, SynthesisedTerm>> synthesised;
};
std::int64_t evaluate(const FittedExpression& expression, const std::int64_t* variables);

enum class FitState {
  open,     ///< too few samples yet, or none
  fitted,   ///< predicts every sample seen
  unfitted  ///< no candidate explains it: to be kept as recorded
};

/// The fits of all expressions of a tree. A sink of LogWalk.
class ExpressionFits {
 public:
  ExpressionFits(const AccessTree& tree, LaunchIntegers integers, std::uint64_t seed);

  /// Compares with the prediction; keeps the sample when it differs or there is none yet.
  void sample(std::uint32_t expression, std::int64_t value, const std::int64_t* variables) {
    if (expression >= entries_.size()) entries_.resize(expression + 1);
    Entry& entry = entries_[expression];
    if (entry.state == FitState::unfitted) return;
    if (entry.state == FitState::fitted && evaluate(entry.fitted, variables) == value) return;
    keep(expression, value, variables);
  }

  /// Refits every expression for which samples were kept since the last call. False when there were
  /// none: all predictions held.
  bool refit();

  FitState state(std::uint32_t expression) const;
  const FittedExpression& fitted(std::uint32_t expression) const {
    return entries_.at(expression).fitted;
  }

 private:
  enum class Stage { natural, one_synthesised, all_synthesised, exhausted };
  struct Entry {
    FitState state = FitState::open;
    Stage stage = Stage::natural;
    std::uint32_t attempts = 0;      // in this stage, that more samples may cure
    std::vector<FitSample> samples;  // columns: the scope's variables
    std::vector<FitSample> fresh;
    std::uint64_t fresh_seen = 0;
    FittedExpression fitted;
  };
  void keep(std::uint32_t expression, std::int64_t value, const std::int64_t* variables);
  void fit(std::uint32_t expression);
  bool fit_natural(std::uint32_t expression);
  bool fit_one_synthesised(std::uint32_t expression);
  bool fit_all_synthesised(std::uint32_t expression);
  FitOutcome solve(const Entry& entry, const std::vector<std::uint32_t>& scope,
                   const std::vector<SynthesisedTerm>& terms) const;
  void accept(std::uint32_t expression, const LinearFit& fit,
              const std::vector<SynthesisedTerm>& terms);

  const AccessTree& tree_;
  LaunchIntegers integers_;
  std::mt19937_64 random_;
  std::vector<Entry> entries_;
};

}  // namespace fm
