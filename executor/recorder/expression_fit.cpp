#include "executor/recorder/expression_fit.hpp"

#include <algorithm>
#include <numeric>

namespace fm {
namespace {

constexpr std::size_t first_samples = 256;
constexpr std::size_t counterexamples = 64;
constexpr std::size_t samples_for_all = 2048;
constexpr std::uint32_t most_attempts = 4;
constexpr std::size_t most_synthesised_terms = 8;  // more is a coincidence, not a formula

/// Ids, then loops, data and derivations: the order in which variables are preferred.
std::vector<std::size_t> natural_order(const AccessTree& tree,
                                       const std::vector<std::uint32_t>& scope) {
  std::vector<std::size_t> order(scope.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t column) {
    switch (tree.variables[scope[column]].kind) {
      case trace::DATA:
        return 1;
      case trace::DERIVED:
        return 2;
      default:
        return 0;
    }
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

/// The samples with the terms' values as further columns.
std::vector<FitSample> with_terms(const std::vector<FitSample>& samples,
                                  const std::vector<std::uint32_t>& scope, std::size_t slots,
                                  const std::vector<SynthesisedTerm>& terms) {
  std::vector<FitSample> extended = samples;
  std::vector<std::int64_t> variables(slots);
  for (FitSample& sample : extended) {
    for (std::size_t i = 0; i < scope.size(); ++i) variables[scope[i]] = sample.columns[i];
    for (const SynthesisedTerm& term : terms) {
      sample.columns.push_back(evaluate(term, variables.data()));
    }
  }
  return extended;
}

}  // namespace

std::int64_t evaluate(const FittedExpression& expression, const std::int64_t* variables) {
  std::int64_t value = evaluate(expression.form, variables);
  for (const auto& [coefficient, term] : expression.synthesised) {
    value += coefficient * evaluate(term, variables);
  }
  return value;
}

ExpressionFits::ExpressionFits(const AccessTree& tree, LaunchIntegers integers, std::uint64_t seed)
    : tree_(tree), integers_(std::move(integers)), random_(seed) {}

FitState ExpressionFits::state(std::uint32_t expression) const {
  return expression < entries_.size() ? entries_[expression].state : FitState::open;
}

void ExpressionFits::keep(std::uint32_t expression, std::int64_t value,
                          const std::int64_t* variables) {
  Entry& entry = entries_[expression];
  const std::size_t capacity = entry.stage == Stage::all_synthesised ? samples_for_all
                               : entry.state == FitState::open       ? first_samples
                                                                     : counterexamples;
  // A uniform choice of all that pass here (reservoir sampling).
  std::size_t place = entry.fresh.size();
  if (place == capacity) {
    place = static_cast<std::size_t>(random_() % (entry.fresh_seen + 1));
  } else {
    entry.fresh.emplace_back();
  }
  ++entry.fresh_seen;
  if (place >= capacity) return;
  FitSample& sample = entry.fresh[place];
  sample.columns.clear();
  for (const std::uint32_t slot : tree_.expressions[expression].scope) {
    sample.columns.push_back(variables[slot]);
  }
  sample.value = value;
}

bool ExpressionFits::refit() {
  bool any = false;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.fresh_seen == 0) continue;
    any = true;
    entry.samples.insert(entry.samples.end(), std::make_move_iterator(entry.fresh.begin()),
                         std::make_move_iterator(entry.fresh.end()));
    entry.fresh.clear();
    entry.fresh_seen = 0;
    fit(i);
  }
  return any;
}

void ExpressionFits::fit(std::uint32_t expression) {
  Entry& entry = entries_[expression];
  entry.state = FitState::open;
  // Each stage ends the search (true) or passes on to the next.
  if (entry.stage == Stage::natural && fit_natural(expression)) return;
  if (entry.stage == Stage::one_synthesised && fit_one_synthesised(expression)) return;
  if (entry.stage == Stage::all_synthesised && fit_all_synthesised(expression)) return;
  entry.state = FitState::unfitted;
  entry.samples.clear();
}

FitOutcome ExpressionFits::solve(const Entry& entry, const std::vector<std::uint32_t>& scope,
                                 const std::vector<SynthesisedTerm>& terms) const {
  const std::vector<FitSample> samples =
      with_terms(entry.samples, scope, tree_.variables.size(), terms);
  std::vector<std::size_t> order = natural_order(tree_, scope);
  for (std::size_t i = 0; i < terms.size(); ++i) order.push_back(scope.size() + i);
  FitOutcome outcome = fit_linear(samples, order);
  if (outcome.failure != FitFailure::not_integer) return outcome;
  // Derivations first, ids last.
  std::reverse(order.begin(), order.end());
  return fit_linear(samples, order);
}

void ExpressionFits::accept(std::uint32_t expression, const LinearFit& fit,
                            const std::vector<SynthesisedTerm>& terms) {
  Entry& entry = entries_[expression];
  const std::vector<std::uint32_t>& scope = tree_.expressions[expression].scope;
  entry.fitted = {};
  entry.fitted.form.constant = fit.constant;
  for (std::size_t i = 0; i < fit.coefficients.size(); ++i) {
    const std::int64_t coefficient = fit.coefficients[i];
    if (coefficient == 0) continue;
    if (i < scope.size()) {
      entry.fitted.form.terms.emplace_back(scope[i], coefficient);
    } else {
      entry.fitted.synthesised.emplace_back(coefficient, terms[i - scope.size()]);
    }
  }
  entry.state = FitState::fitted;
}

bool ExpressionFits::fit_natural(std::uint32_t expression) {
  Entry& entry = entries_[expression];
  const FitOutcome outcome = solve(entry, tree_.expressions[expression].scope, {});
  if (outcome.fit) {
    accept(expression, *outcome.fit, {});
    return true;
  }
  if (outcome.failure == FitFailure::not_integer && ++entry.attempts <= most_attempts) return true;
  entry.stage = Stage::one_synthesised;
  entry.attempts = 0;
  return false;
}

bool ExpressionFits::fit_one_synthesised(std::uint32_t expression) {
  Entry& entry = entries_[expression];
  const std::vector<std::uint32_t>& scope = tree_.expressions[expression].scope;
  for (const SynthesisedTerm& term : synthesised_candidates(tree_, scope, integers_)) {
    const FitOutcome outcome = solve(entry, scope, {term});
    if (!outcome.fit) continue;
    accept(expression, *outcome.fit, {term});
    return true;
  }
  // Ask for the many samples that all candidates together need.
  entry.stage = Stage::all_synthesised;
  return true;
}

bool ExpressionFits::fit_all_synthesised(std::uint32_t expression) {
  Entry& entry = entries_[expression];
  const std::vector<std::uint32_t>& scope = tree_.expressions[expression].scope;
  const std::vector<SynthesisedTerm> terms = synthesised_candidates(tree_, scope, integers_);
  const FitOutcome outcome = solve(entry, scope, terms);
  if (outcome.fit && ++entry.attempts <= most_attempts) {
    accept(expression, *outcome.fit, terms);
    if (entry.fitted.synthesised.size() <= most_synthesised_terms) return true;
  }
  entry.stage = Stage::exhausted;
  return false;
}

}  // namespace fm
