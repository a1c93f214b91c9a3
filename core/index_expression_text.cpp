// Reading index expressions: sums of products of numbers, variables and parentheses.
#include <cctype>
#include <vector>

#include "core/diagnostics.hpp"
#include "core/index_expression.hpp"

namespace fm {
namespace {

class Parser {
 public:
  Parser(const std::string& text, const std::map<std::string, std::int64_t>& variables)
      : text_(text), variables_(variables) {}

  IndexExpression whole() {
    const IndexExpression e = sum(0);
    if (next() != '\0') fail(std::string("`") + next() + "` where an operator was expected");
    return e;
  }

 private:
  static constexpr int deepest = 64;  // parentheses

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError("index expression `" + text_ + "`: " + what + " at character " +
                    std::to_string(at_ + 1));
  }

  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }

  IndexExpression sum(int depth) {
    IndexExpression e = take('-') ? product(depth) * -1 : product(depth);
    for (;;) {
      if (take('+')) {
        e = e + product(depth);
      } else if (take('-')) {
        e = e + product(depth) * -1;
      } else {
        return e;
      }
    }
  }

  IndexExpression product(int depth) {
    IndexExpression e = factor(depth);
    for (;;) {
      if (take('*')) {
        const IndexExpression other = factor(depth);
        if (!e.is_constant() && !other.is_constant()) fail("a product of two variables");
        e = other.is_constant() ? e * other.constant() : other * e.constant();
      } else if (take('/')) {
        e = quotient(e, divisor(depth));
      } else if (take('%')) {
        e = remainder(e, divisor(depth));
      } else {
        return e;
      }
    }
  }

  std::int64_t divisor(int depth) {
    const IndexExpression e = factor(depth);
    if (!e.is_constant() || e.constant() <= 0) fail("a divisor that is no positive number");
    return e.constant();
  }

  IndexExpression factor(int depth) {
    if (depth > deepest) fail("too many parentheses");
    if (take('(')) {
      const IndexExpression e = sum(depth + 1);
      if (!take(')')) fail("a parenthesis is missing");
      return e;
    }
    const char first = next();
    const auto word_end = [&](auto belongs) {
      std::size_t end = at_;
      while (end < text_.size() && belongs(static_cast<unsigned char>(text_[end]))) ++end;
      return end;
    };
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
      const std::size_t end = word_end([](unsigned char c) { return std::isdigit(c) != 0; });
      const std::string digits = text_.substr(at_, end - at_);
      if (digits.size() > 10) fail("a number beyond 32 bits");
      at_ = end;
      return IndexExpression(std::stoll(digits));
    }
    const std::size_t end = word_end([](unsigned char c) { return std::isalpha(c) != 0; });
    const std::string name = text_.substr(at_, end - at_);
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, extent] : variables_) names.push_back(known);
      fail(name.empty() ? "a number, a variable or a parenthesis is missing"
                        : "unknown variable `" + name + "`: " + accepted_words(name, names));
    }
    at_ = end;
    return IndexExpression::variable(name, found->second);
  }

  const std::string& text_;
  const std::map<std::string, std::int64_t>& variables_;
  std::size_t at_ = 0;
};

}  // namespace

IndexExpression parse_index_expression(const std::string& text,
                                       const std::map<std::string, std::int64_t>& variables) {
  return Parser(text, variables).whole();
}

}  // namespace fm
