#pragma once
// Exact integer linear fits: value = constant + sum of coefficient * column, on every sample.

#include <cstdint>
#include <optional>
#include <vector>

namespace fm {

/// One observation: the columns' values and what the expression was.
struct FitSample {
  std::vector<std::int64_t> columns;
  std::int64_t value = 0;
};

struct LinearFit {
  std::int64_t constant = 0;
  std::vector<std::int64_t> coefficients;  ///< one a column
};

enum class FitFailure {
  none,
  inconsistent,  ///< no rational coefficients at all; more samples cannot help
  not_integer  ///< only fractions in this order of columns; more samples or another order may help
};

struct FitOutcome {
  std::optional<LinearFit> fit;
  FitFailure failure = FitFailure::none;
};

/// Eliminates modulo the prime 2^61 - 1 and maps the result back to signed integers of at most 40
/// bits; every sample is then verified in integers. Where the samples leave freedom, earlier
/// entries of `order` (column indices, a permutation or a subset) are used first and the others get
/// 0; the constant comes before all. All samples have the same number of columns.
FitOutcome fit_linear(const std::vector<FitSample>& samples, const std::vector<std::size_t>& order);

/// Prediction of a fit for given column values.
std::int64_t evaluate(const LinearFit& fit, const std::vector<std::int64_t>& columns);

}  // namespace fm
