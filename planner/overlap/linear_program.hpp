#pragma once
// Rows, columns and coefficients as Clp takes them.

#include <initializer_list>
#include <vector>

namespace fm {

/// Minimises the sum of cost * column over columns within their limits, all rows at least theirs.
class LinearProgram {
 public:
  struct Term {
    int column;  ///< negative: left out
    double factor;
  };

  /// Returns the new column's number.
  int column(double lower, double upper, double cost = 0);
  /// sum of terms >= `at_least`
  void row(std::initializer_list<Term> terms, double at_least) {
    row(std::vector<Term>(terms), at_least);
  }
  void row(const std::vector<Term>& terms, double at_least);
  /// By Coin-OR Clp's dual simplex. False when time ran out, or the iterations that a program of
  /// this size may take: counted, so that the result is the same on every machine. Throws
  /// std::logic_error when there is no solution.
  bool solve(double seconds, std::vector<double>* values, double* objective) const;

 private:
  std::vector<double> lower_, upper_, cost_, row_lower_, factors_;
  std::vector<int> rows_, columns_;
};

}  // namespace fm
