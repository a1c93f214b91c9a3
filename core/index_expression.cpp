#include "core/index_expression.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

namespace fm {
namespace {

using Kind = IndexTerm::Kind;

/// Far beyond any index, far within 64 bits: bounds saturate here.
constexpr std::int64_t boundless = std::int64_t{1} << 60;

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  return std::clamp<std::int64_t>(a + b, -boundless, boundless);
}

std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? boundless : -boundless;
  return std::clamp<std::int64_t>(product, -boundless, boundless);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b < 0 ? q - 1 : q;
}
std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  return a - floor_quotient(a, b) * b;
}

void require_divisor(std::int64_t divisor) {
  if (divisor <= 0) throw std::invalid_argument("index expression: a divisor must be positive");
}

/// The only term when the expression is nothing else.
const IndexTerm* single_term(const IndexExpression& e) {
  if (e.constant() != 0 || e.terms().size() != 1) return nullptr;
  const IndexExpression::Scaled& only = e.terms().begin()->second;
  return only.coefficient == 1 ? only.term.get() : nullptr;
}

std::string operand_text(const IndexExpression& e) {
  const std::string text = e.to_string();
  // A term and a lone product read from the left as they are written.
  return single_term(e) != nullptr ? text : "(" + text + ")";
}

IndexTermPointer division(Kind kind, const IndexExpression& operand, std::int64_t divisor) {
  auto term = std::make_shared<IndexTerm>();
  term->kind = kind;
  term->operand = operand;
  term->divisor = divisor;
  const std::int64_t highest = operand.highest();
  term->highest = kind == Kind::quotient ? highest / divisor : std::min(highest, divisor - 1);
  term->text =
      operand_text(operand) + (kind == Kind::quotient ? " / " : " % ") + std::to_string(divisor);
  return term;
}

}  // namespace

IndexExpression IndexExpression::variable(const std::string& name, std::int64_t extent) {
  if (extent <= 1) return IndexExpression(0);
  auto term = std::make_shared<IndexTerm>();
  term->name = term->text = name;
  term->highest = extent - 1;
  IndexExpression e;
  e.add(term, 1);
  return e;
}

void IndexExpression::add(const IndexTermPointer& term, std::int64_t coefficient) {
  if (coefficient == 0) return;
  Scaled& scaled = terms_[term->text];
  scaled.term = term;
  scaled.coefficient += coefficient;
  if (scaled.coefficient == 0) terms_.erase(term->text);
}

IndexExpression operator+(const IndexExpression& a, const IndexExpression& b) {
  IndexExpression sum = a;
  sum.constant_ += b.constant_;
  for (const auto& [text, scaled] : b.terms_) sum.add(scaled.term, scaled.coefficient);
  sum.merge_splits();
  return sum;
}

IndexExpression operator*(const IndexExpression& a, std::int64_t factor) {
  IndexExpression product(a.constant_ * factor);
  for (const auto& [text, scaled] : a.terms_) product.add(scaled.term, scaled.coefficient * factor);
  return product;
}

bool operator==(const IndexExpression& a, const IndexExpression& b) {
  return a.constant_ == b.constant_ && a.terms_.size() == b.terms_.size() &&
         std::equal(a.terms_.begin(), a.terms_.end(), b.terms_.begin(),
                    [](const auto& p, const auto& q) {
                      return p.first == q.first && p.second.coefficient == q.second.coefficient;
                    });
}

/// a / c * c + a % c is a: for every remainder, the quotient that completes it.
void IndexExpression::merge_splits() {
  for (bool merged = true; merged;) {
    merged = false;
    for (const auto& [text, scaled] : terms_) {
      const Scaled part = scaled;
      if (part.term->kind == Kind::remainder && merge_split_of(part)) {
        merged = true;
        break;
      }
    }
  }
}

bool IndexExpression::merge_split_of(const Scaled& part) {
  const IndexExpression& whole = part.term->operand;
  const std::int64_t divisor = part.term->divisor;
  const IndexExpression upper = quotient(whole, divisor);
  const IndexTerm* upper_term = single_term(upper);
  for (const auto& [text, candidate] : terms_) {
    if (candidate.coefficient != part.coefficient * divisor) continue;
    const IndexTerm& term = *candidate.term;
    IndexExpression joined;
    if (upper_term != nullptr && upper_term->text == text) {
      joined = whole;
    } else if (term.kind == Kind::remainder && term.operand == upper) {
      joined = remainder(whole, divisor * term.divisor);
    } else {
      continue;
    }
    IndexExpression rest = *this;
    rest.add(part.term, -part.coefficient);
    rest.add(candidate.term, -candidate.coefficient);
    *this = rest + joined * part.coefficient;
    return true;
  }
  return false;
}

/// e = factor * upper + lower with 0 <= lower < factor, for the largest such factor above 1 that
/// divides `divisor`. Coefficients and constant of `e` are not negative.
std::optional<IndexExpression::Split> IndexExpression::split(const IndexExpression& e,
                                                             std::int64_t divisor) {
  std::set<std::int64_t> factors;
  for (const auto& [text, scaled] : e.terms_) {
    factors.insert(std::gcd(scaled.coefficient, divisor));
  }
  for (auto factor = factors.rbegin(); factor != factors.rend() && *factor > 1; ++factor) {
    Split result{*factor, IndexExpression(e.constant_ / *factor),
                 IndexExpression(e.constant_ % *factor)};
    for (const auto& [text, scaled] : e.terms_) {
      if (scaled.coefficient % *factor == 0) {
        result.upper.add(scaled.term, scaled.coefficient / *factor);
      } else {
        result.lower.add(scaled.term, scaled.coefficient);
      }
    }
    if (result.lower.highest() < *factor) return result;
  }
  return std::nullopt;
}

IndexExpression quotient(const IndexExpression& a, std::int64_t divisor) {
  require_divisor(divisor);
  if (divisor == 1) return a;
  // Multiples of the divisor leave the quotient; what stays inside is not negative.
  IndexExpression out(floor_quotient(a.constant_, divisor));
  IndexExpression rest(floor_remainder(a.constant_, divisor));
  for (const auto& [text, scaled] : a.terms_) {
    out.add(scaled.term, floor_quotient(scaled.coefficient, divisor));
    rest.add(scaled.term, floor_remainder(scaled.coefficient, divisor));
  }
  if (rest.highest() < divisor) return out;
  if (const auto split = IndexExpression::split(rest, divisor)) {
    return out + quotient(split->upper, divisor / split->factor);
  }
  if (rest.terms_.size() == 1 && rest.terms_.begin()->second.coefficient == 1) {
    const IndexTerm& term = *rest.terms_.begin()->second.term;
    if (term.kind == Kind::quotient) {
      const IndexExpression operand = term.operand + IndexExpression(rest.constant_ * term.divisor);
      return out + quotient(operand, term.divisor * divisor);
    }
    if (term.kind == Kind::remainder && rest.constant_ == 0 && term.divisor % divisor == 0) {
      return out + remainder(quotient(term.operand, divisor), term.divisor / divisor);
    }
  }
  out.add(division(Kind::quotient, rest, divisor), 1);
  out.merge_splits();
  return out;
}

IndexExpression remainder(const IndexExpression& a, std::int64_t divisor) {
  require_divisor(divisor);
  if (divisor == 1) return IndexExpression(0);
  // Only coefficients modulo the divisor matter; they are then not negative.
  IndexExpression rest(floor_remainder(a.constant_, divisor));
  IndexExpression
      opened;  // operands of remainders whose own divisor does not matter under this one
  for (const auto& [text, scaled] : a.terms_) {
    const std::int64_t coefficient = floor_remainder(scaled.coefficient, divisor);
    const IndexTerm& term = *scaled.term;
    if (term.kind == Kind::remainder && coefficient * term.divisor % divisor == 0) {
      opened = opened + term.operand * coefficient;
    } else {
      rest.add(scaled.term, coefficient);
    }
  }
  if (opened != IndexExpression(0)) return remainder(rest + opened, divisor);
  if (rest.highest() < divisor) {
    rest.merge_splits();
    return rest;
  }
  if (const auto split = IndexExpression::split(rest, divisor)) {
    return remainder(split->upper, divisor / split->factor) * split->factor + split->lower;
  }
  IndexExpression result;
  result.add(division(Kind::remainder, rest, divisor), 1);
  return result;
}

bool IndexExpression::is_linear() const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [](const auto& entry) { return entry.second.term->kind == Kind::variable; });
}

bool IndexExpression::uses(const std::string& variable) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto& entry) {
    const IndexTerm& term = *entry.second.term;
    return term.kind == Kind::variable ? term.name == variable : term.operand.uses(variable);
  });
}

std::int64_t IndexExpression::coefficient_of(const std::string& variable) const {
  const auto found = terms_.find(variable);
  return found == terms_.end() ? 0 : found->second.coefficient;
}

std::int64_t IndexExpression::lowest() const {
  std::int64_t bound = constant_;
  for (const auto& [text, scaled] : terms_) {
    if (scaled.coefficient < 0) {
      bound = saturated_sum(bound, saturated_product(scaled.coefficient, scaled.term->highest));
    }
  }
  return bound;
}

std::int64_t IndexExpression::highest() const {
  std::int64_t bound = constant_;
  for (const auto& [text, scaled] : terms_) {
    if (scaled.coefficient > 0) {
      bound = saturated_sum(bound, saturated_product(scaled.coefficient, scaled.term->highest));
    }
  }
  return bound;
}

std::int64_t IndexExpression::evaluate(const std::map<std::string, std::int64_t>& values) const {
  std::int64_t sum = constant_;
  for (const auto& [text, scaled] : terms_) {
    const IndexTerm& term = *scaled.term;
    std::int64_t value = 0;
    if (term.kind == Kind::variable) {
      value = values.at(term.name);
    } else {
      const std::int64_t operand = term.operand.evaluate(values);
      value = term.kind == Kind::quotient ? floor_quotient(operand, term.divisor)
                                          : floor_remainder(operand, term.divisor);
    }
    sum += scaled.coefficient * value;
  }
  return sum;
}

IndexExpression IndexExpression::substituted(
    const std::map<std::string, IndexExpression>& replacements) const {
  IndexExpression sum(constant_);
  for (const auto& [text, scaled] : terms_) {
    const IndexTerm& term = *scaled.term;
    if (term.kind == Kind::variable) {
      const auto found = replacements.find(term.name);
      IndexExpression kept;
      kept.add(scaled.term, scaled.coefficient);
      sum = sum + (found == replacements.end() ? kept : found->second * scaled.coefficient);
      continue;
    }
    const IndexExpression operand = term.operand.substituted(replacements);
    sum = sum + (term.kind == Kind::quotient ? quotient(operand, term.divisor)
                                             : remainder(operand, term.divisor)) *
                    scaled.coefficient;
  }
  return sum;
}

int IndexExpression::divisions() const {
  int count = 0;
  for (const auto& [text, scaled] : terms_) {
    if (scaled.term->kind != Kind::variable) count += 1 + scaled.term->operand.divisions();
  }
  return count;
}

std::string IndexExpression::to_string() const {
  std::string text;
  const auto append = [&text](bool negative, const std::string& part) {
    if (text.empty()) {
      text = (negative ? "-" : "") + part;
    } else {
      text += (negative ? " - " : " + ") + part;
    }
  };
  for (const auto& [name, scaled] : terms_) {
    const std::int64_t size = std::abs(scaled.coefficient);
    const bool plain = scaled.term->kind == Kind::variable;
    append(scaled.coefficient < 0, size == 1 ? name
                                   : plain   ? std::to_string(size) + " * " + name
                                             : std::to_string(size) + " * (" + name + ")");
  }
  if (constant_ != 0 || text.empty()) append(constant_ < 0, std::to_string(std::abs(constant_)));
  return text;
}

}  // namespace fm
