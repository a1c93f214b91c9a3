#pragma once
// Integer index arithmetic as symbols: sums of variables, quotients and remainders by constants,
// simplified as they are built. What an eliminated chain of reshapes and transposes leaves behind
// (SmartMem section 3.2.1: identity, split by / and %, merge by * and +).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fm {

struct IndexTerm;
using IndexTermPointer = std::shared_ptr<const IndexTerm>;

/// constant + sum of coefficient * term. Every term is a variable, a quotient or a remainder, and
/// never negative. Quotients and remainders by `c` are those of floor division.
///
/// Strength reduction, applied on construction (all need operands that are not negative):
///   (c a + b) / c -> a + b / c;  (a / c) / d -> a / (c d);  (a % c) / d -> a / d % (c / d), d | c
///   (c a + b) % c -> b % c;      a % c % d -> a % d, d | c;  common factors of a and c cancel
///   a / c -> 0 and a % c -> a where a < c by the variables' extents
///   a / c * c + a % c -> a;      a / c % d * c + a % c -> a % (c d)
class IndexExpression {
 public:
  struct Scaled {
    IndexTermPointer term;
    std::int64_t coefficient = 0;
  };

  IndexExpression(std::int64_t constant = 0) : constant_(constant) {}
  /// Values from 0 to extent - 1.
  static IndexExpression variable(const std::string& name, std::int64_t extent);

  friend IndexExpression operator+(const IndexExpression& a, const IndexExpression& b);
  friend IndexExpression operator*(const IndexExpression& a, std::int64_t factor);
  /// divisor > 0; throws std::invalid_argument otherwise.
  friend IndexExpression quotient(const IndexExpression& a, std::int64_t divisor);
  friend IndexExpression remainder(const IndexExpression& a, std::int64_t divisor);
  friend bool operator==(const IndexExpression& a, const IndexExpression& b);
  friend bool operator!=(const IndexExpression& a, const IndexExpression& b) { return !(a == b); }

  std::int64_t constant() const { return constant_; }
  /// By the term's text, so in one order whatever the way the expression was built.
  const std::map<std::string, Scaled>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  /// Nothing but variables: no quotient, no remainder.
  bool is_linear() const;
  bool uses(const std::string& variable) const;
  /// Of a variable in a linear expression; 0 when it does not occur.
  std::int64_t coefficient_of(const std::string& variable) const;

  /// Bounds that hold for all values of the variables; not always tight.
  std::int64_t lowest() const;
  std::int64_t highest() const;

  /// Throws std::out_of_range for a variable without value.
  std::int64_t evaluate(const std::map<std::string, std::int64_t>& values) const;
  /// With expressions in place of variables; others stay. The replacements' ranges must lie within
  /// the variables'.
  IndexExpression substituted(const std::map<std::string, IndexExpression>& replacements) const;

  /// Quotients and remainders, each as often as it is written.
  int divisions() const;
  /// In C syntax: "16 * (y / 197) + x + 3".
  std::string to_string() const;

 private:
  /// factor * upper + lower, 0 <= lower < factor.
  struct Split;
  static std::optional<Split> split(const IndexExpression& e, std::int64_t divisor);
  void add(const IndexTermPointer& term, std::int64_t coefficient);
  void merge_splits();
  bool merge_split_of(const Scaled& part);

  std::int64_t constant_ = 0;
  std::map<std::string, Scaled> terms_;
};

struct IndexExpression::Split {
  std::int64_t factor = 1;
  IndexExpression upper, lower;
};

struct IndexTerm {
  enum class Kind { variable, quotient, remainder };
  Kind kind = Kind::variable;
  std::string name;         ///< variable
  IndexExpression operand;  ///< quotient, remainder
  std::int64_t divisor = 1;
  std::int64_t highest = 0;  ///< values are 0 to highest
  std::string text;          ///< C syntax
};

/// Reads what to_string() writes: + - * / %, parentheses, whole numbers and `variables` (their
/// extents by name). Products need a number on one side, divisors a positive number. Throws
/// UserError.
IndexExpression parse_index_expression(const std::string& text,
                                       const std::map<std::string, std::int64_t>& variables);

}  // namespace fm
