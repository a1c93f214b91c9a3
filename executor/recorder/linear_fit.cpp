#include "executor/recorder/linear_fit.hpp"

#include <cstddef>

namespace fm {
namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
constexpr std::int64_t largest_coefficient = std::int64_t{1} << 40;

std::uint64_t reduce(std::uint64_t value) {
  value = (value & prime) + (value >> 61);
  return value >= prime ? value - prime : value;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return reduce(static_cast<std::uint64_t>(product & prime) +
                static_cast<std::uint64_t>(product >> 61));
}

std::uint64_t subtract(std::uint64_t a, std::uint64_t b) { return a >= b ? a - b : a + prime - b; }

std::uint64_t inverse(std::uint64_t value) {
  std::uint64_t result = 1;
  for (std::uint64_t exponent = prime - 2; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = multiply(result, value);
    value = multiply(value, value);
  }
  return result;
}

std::uint64_t residue(std::int64_t value) {
  return value >= 0 ? reduce(static_cast<std::uint64_t>(value))
                    : subtract(0, reduce(static_cast<std::uint64_t>(-(value + 1)) + 1));
}

std::int64_t signed_value(std::uint64_t value) {
  return value > prime / 2 ? -static_cast<std::int64_t>(prime - value)
                           : static_cast<std::int64_t>(value);
}

using Row = std::vector<std::uint64_t>;  // constant, columns in order, value

/// Rows in echelon form, the pivot of each normalised to 1.
class Echelon {
 public:
  explicit Echelon(std::size_t unknowns) : by_pivot_(unknowns) {}

  /// False when the row contradicts those before it.
  bool add(Row row) {
    const std::size_t unknowns = by_pivot_.size();
    for (std::size_t c = 0; c < unknowns; ++c) {
      if (row[c] == 0) continue;
      if (by_pivot_[c].empty()) {
        const std::uint64_t scale = inverse(row[c]);
        for (std::size_t i = c; i <= unknowns; ++i) row[i] = multiply(row[i], scale);
        by_pivot_[c] = std::move(row);
        return true;
      }
      const std::uint64_t factor = row[c];
      for (std::size_t i = c; i <= unknowns; ++i) {
        row[i] = subtract(row[i], multiply(factor, by_pivot_[c][i]));
      }
    }
    return row[unknowns] == 0;
  }

  /// Columns without a pivot are 0.
  Row solution() const {
    const std::size_t unknowns = by_pivot_.size();
    Row result(unknowns, 0);
    for (std::size_t c = unknowns; c-- > 0;) {
      if (by_pivot_[c].empty()) continue;
      std::uint64_t value = by_pivot_[c][unknowns];
      for (std::size_t i = c + 1; i < unknowns; ++i) {
        if (result[i] != 0) value = subtract(value, multiply(by_pivot_[c][i], result[i]));
      }
      result[c] = value;
    }
    return result;
  }

 private:
  std::vector<Row> by_pivot_;
};

Row row_of(const FitSample& sample, const std::vector<std::size_t>& order) {
  Row row;
  row.reserve(order.size() + 2);
  row.push_back(1);
  for (const std::size_t column : order) row.push_back(residue(sample.columns[column]));
  row.push_back(residue(sample.value));
  return row;
}

}  // namespace

std::int64_t evaluate(const LinearFit& fit, const std::vector<std::int64_t>& columns) {
  std::int64_t value = fit.constant;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (fit.coefficients[i] != 0) value += fit.coefficients[i] * columns[i];
  }
  return value;
}

FitOutcome fit_linear(const std::vector<FitSample>& samples,
                      const std::vector<std::size_t>& order) {
  Echelon echelon(order.size() + 1);
  for (const FitSample& sample : samples) {
    if (!echelon.add(row_of(sample, order))) return {std::nullopt, FitFailure::inconsistent};
  }
  const Row solution = echelon.solution();
  LinearFit fit;
  fit.coefficients.assign(samples.empty() ? 0 : samples.front().columns.size(), 0);
  for (std::size_t i = 0; i < solution.size(); ++i) {
    const std::int64_t value = signed_value(solution[i]);
    if (value > largest_coefficient || value < -largest_coefficient) {
      return {std::nullopt, FitFailure::not_integer};
    }
    if (i == 0) {
      fit.constant = value;
    } else if (!fit.coefficients.empty()) {
      fit.coefficients[order[i - 1]] = value;
    }
  }
  for (const FitSample& sample : samples) {
    if (evaluate(fit, sample.columns) != sample.value) {
      return {std::nullopt, FitFailure::not_integer};
    }
  }
  return {std::move(fit), FitFailure::none};
}

}  // namespace fm
