// Index expressions: the strength reductions one by one, and random expressions against plain
// arithmetic.
#include "core/index_expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/core/error_message.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;

const IndexExpression i = IndexExpression::variable("i", 1000);
const IndexExpression j = IndexExpression::variable("j", 8);

std::string text(const IndexExpression& e) { return e.to_string(); }

TEST(IndexExpression, RemainderOfARemainderByADivisorNeedsOnlyTheSecond) {
  EXPECT_EQ(text(remainder(remainder(i, 48), 16)), "i % 16");
  EXPECT_EQ(text(remainder(remainder(i, 16), 48)), "i % 16");
  EXPECT_EQ(text(remainder(remainder(i, 48), 20)), "i % 48 % 20");  // 20 does not divide 48
}

TEST(IndexExpression, QuotientsInARowAreOne) {
  EXPECT_EQ(text(quotient(quotient(i, 4), 8)), "i / 32");
  EXPECT_EQ(text(quotient(quotient(i, 4) + IndexExpression(3), 8)), "(i + 12) / 32");
}

TEST(IndexExpression, QuotientOfARemainder) {
  EXPECT_EQ(text(quotient(remainder(i, 32), 4)), "i / 4 % 8");
}

TEST(IndexExpression, MultiplesOfTheDivisorLeaveIt) {
  EXPECT_EQ(text(quotient(i * 12 + j, 12)), "i");
  EXPECT_EQ(text(remainder(i * 12 + j, 12)), "j");
  EXPECT_EQ(text(quotient(i * 12 + j * 3 + IndexExpression(25), 12)), "i + j / 4 + 2");
  EXPECT_EQ(text(remainder(i * 13, 12)), "i % 12");
}

TEST(IndexExpression, RangesRemoveQuotientsAndRemainders) {
  EXPECT_EQ(text(quotient(j, 8)), "0");
  EXPECT_EQ(text(remainder(j, 8)), "j");
  EXPECT_EQ(text(remainder(j, 7)), "j % 7");
}

TEST(IndexExpression, CommonFactorsCancelAndSmallPartsDropOut) {
  const IndexExpression lane = IndexExpression::variable("lane", 4);
  EXPECT_EQ(text(quotient(i * 4 + lane, 64)), "i / 16");
  EXPECT_EQ(text(remainder(i * 4 + lane, 64)), "4 * (i % 16) + lane");
  EXPECT_EQ(text(quotient(i * 6 + IndexExpression(5), 4)), "i + i / 2 + 1");
}

TEST(IndexExpression, SplitAndMergedAgainIsTheWhole) {
  EXPECT_EQ(quotient(i, 12) * 12 + remainder(i, 12), i);
  EXPECT_EQ(quotient(i, 12) * 36 + remainder(i, 12) * 3, i * 3);
  EXPECT_EQ(text(remainder(quotient(i, 4), 8) * 4 + remainder(i, 4)), "i % 32");
  EXPECT_EQ(quotient(i, 32) * 32 + remainder(quotient(i, 4), 8) * 4 + remainder(i, 4), i);
}

/// SmartMem figure 3: [2, 256, 4] reshaped to [16, 8, 4, 4], transposed to [16, 4, 8, 4].
TEST(IndexExpression, ThePapersExample) {
  const auto var = [](const char* name, std::int64_t extent) {
    return IndexExpression::variable(name, extent);
  };
  // The element of the first tensor, [a, b, c], that is [i, j, k, l] of the last.
  const IndexExpression flat =
      var("i", 16) * 128 + var("k", 8) * 16 + var("j", 4) * 4 + var("l", 4);
  EXPECT_EQ(text(quotient(flat, 1024)), "i / 8");
  EXPECT_EQ(text(remainder(quotient(flat, 4), 256)), "32 * (i % 8) + j + 4 * k");
  EXPECT_EQ(text(remainder(flat, 4)), "l");
  // And the element of the last that is [a, b, c] of the first, as the paper prints it.
  const IndexExpression whole = var("i", 2) * 1024 + var("j", 256) * 4 + var("k", 4);
  EXPECT_EQ(text(quotient(whole, 128)), "8 * i + j / 32");
  EXPECT_EQ(text(remainder(quotient(whole, 4), 4)), "j % 4");
  EXPECT_EQ(text(remainder(quotient(whole, 16), 8)), "j / 4 % 8");  // (j % 32) // 4
  EXPECT_EQ(text(remainder(whole, 4)), "k");
}

/// A random expression and the same by plain arithmetic.
struct Random {
  using Plain = std::function<std::int64_t(const std::map<std::string, std::int64_t>&)>;
  IndexExpression expression;
  Plain plain;
};

class RandomExpressions {
 public:
  explicit RandomExpressions(unsigned seed) : generator_(seed) {}

  Random make(int depth) {
    if (depth == 0) {
      const std::size_t v = below(3);
      return {IndexExpression::variable(names[v], extents[v]),
              [v](const auto& values) { return values.at(names[v]); }};
    }
    const Random a = make(depth - 1);
    const auto number = static_cast<std::int64_t>(1 + below(12));
    switch (below(5)) {
      case 0: {
        const Random b = make(depth - 1);
        return {a.expression + b.expression,
                [a, b](const auto& values) { return a.plain(values) + b.plain(values); }};
      }
      case 1:
        return {a.expression * number,
                [a, number](const auto& values) { return a.plain(values) * number; }};
      case 2:
        return {a.expression + IndexExpression(number),
                [a, number](const auto& values) { return a.plain(values) + number; }};
      case 3:
        return {quotient(a.expression, number),
                [a, number](const auto& values) { return a.plain(values) / number; }};
      default:
        return {remainder(a.expression, number),
                [a, number](const auto& values) { return a.plain(values) % number; }};
    }
  }

  std::map<std::string, std::int64_t> values() {
    std::map<std::string, std::int64_t> values;
    for (std::size_t v = 0; v < 3; ++v) {
      values[names[v]] = static_cast<std::int64_t>(below(static_cast<std::size_t>(extents[v])));
    }
    return values;
  }

  static constexpr const char* names[] = {"x", "y", "lane"};
  static constexpr std::int64_t extents[] = {48, 30, 4};

 private:
  std::size_t below(std::size_t limit) { return generator_() % limit; }
  std::mt19937 generator_;
};

/// C divides towards zero: an operand below zero would differ from what evaluate() says.
void expect_operands_not_negative(const IndexExpression& e) {
  for (const auto& [name, scaled] : e.terms()) {
    if (scaled.term->kind == IndexTerm::Kind::variable) continue;
    EXPECT_GE(scaled.term->operand.lowest(), 0) << name;
    expect_operands_not_negative(scaled.term->operand);
  }
}

TEST(IndexExpression, RandomOnesEqualPlainArithmeticAlsoAfterPrintingAndReading) {
  RandomExpressions random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const Random one = random.make(1 + trial % 7);
    expect_operands_not_negative(one.expression);
    const IndexExpression read = parse_index_expression(
        one.expression.to_string(), {{"x", 1 << 30}, {"y", 1 << 30}, {"lane", 4}});
    for (int sample = 0; sample < 20; ++sample) {
      const auto values = random.values();
      const std::int64_t expected = one.plain(values);
      ASSERT_EQ(one.expression.evaluate(values), expected) << one.expression.to_string();
      ASSERT_EQ(read.evaluate(values), expected) << one.expression.to_string();
      ASSERT_LE(one.expression.lowest(), expected);
      ASSERT_GE(one.expression.highest(), expected);
    }
  }
}

TEST(IndexExpression, SubstitutionIsComposition) {
  RandomExpressions random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const Random outer = random.make(1 + trial % 5), inner = random.make(1 + trial % 4);
    if (inner.expression.highest() >= RandomExpressions::extents[0]) continue;
    const IndexExpression composed = outer.expression.substituted({{"x", inner.expression}});
    for (int sample = 0; sample < 10; ++sample) {
      auto values = random.values();
      const std::int64_t got = composed.evaluate(values);
      values["x"] = inner.plain(values);
      ASSERT_EQ(got, outer.plain(values));
    }
  }
}

TEST(IndexExpression, RefusesWhatIsNoIndexExpression) {
  const auto message = [](const std::string& wrong) {
    return user_error_of([&] { parse_index_expression(wrong, {{"x", 8}, {"y", 8}}); });
  };
  EXPECT_THAT(message("x * y"), HasSubstr("product of two variables"));
  EXPECT_THAT(message("x / 0"), HasSubstr("no positive number"));
  EXPECT_THAT(message("x % y"), HasSubstr("no positive number"));
  EXPECT_THAT(message("x + z"), HasSubstr("unknown variable `z`"));
  EXPECT_THAT(message("(x + 1"), HasSubstr("parenthesis is missing"));
  EXPECT_THAT(message("x; system(0)"), HasSubstr("`;` where an operator was expected"));
  EXPECT_THAT(message("99999999999"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(message(std::string(100, '(')), HasSubstr("too many parentheses"));
  EXPECT_THAT(message(""), HasSubstr("is missing"));
}

}  // namespace
}  // namespace fm
