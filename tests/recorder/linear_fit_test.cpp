#include "executor/recorder/linear_fit.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace fm {
namespace {

std::vector<std::size_t> natural_order(std::size_t columns) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

class RandomFit : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomFit, FindsTheCoefficientsThatMadeTheSamples) {
  std::mt19937_64 random(GetParam());
  const auto between = [&](std::int64_t least, std::int64_t greatest) {
    return least +
           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(greatest - least + 1));
  };
  const std::size_t columns = static_cast<std::size_t>(between(1, 12));
  LinearFit made;
  made.constant = between(-1'000'000, 1'000'000);
  for (std::size_t i = 0; i < columns; ++i) {
    made.coefficients.push_back(between(0, 2) == 0 ? 0 : between(-100'000'000, 100'000'000));
  }
  std::vector<FitSample> samples;
  for (int i = 0; i < 60; ++i) {
    FitSample& sample = samples.emplace_back();
    for (std::size_t c = 0; c < columns; ++c) sample.columns.push_back(between(-2000, 2000));
    sample.value = evaluate(made, sample.columns);
  }
  const FitOutcome outcome = fit_linear(samples, natural_order(columns));
  ASSERT_TRUE(outcome.fit);
  EXPECT_EQ(outcome.fit->constant, made.constant);
  EXPECT_EQ(outcome.fit->coefficients, made.coefficients);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFit, testing::Range(1u, 21u));

TEST(LinearFit, EarlierColumnsAreUsedFirst) {
  // Columns 0 and 1 are equal on all samples.
  std::vector<FitSample> samples;
  for (std::int64_t i = 0; i < 5; ++i) samples.push_back({{i, i}, 7 * i + 1});
  EXPECT_EQ(fit_linear(samples, {0, 1}).fit->coefficients, (std::vector<std::int64_t>{7, 0}));
  EXPECT_EQ(fit_linear(samples, {1, 0}).fit->coefficients, (std::vector<std::int64_t>{0, 7}));
}

TEST(LinearFit, ConstantsNeedNoColumn) {
  const FitOutcome outcome = fit_linear({{{3, 4}, 5}, {{3, 4}, 5}}, {0, 1});
  ASSERT_TRUE(outcome.fit);
  EXPECT_EQ(outcome.fit->constant, 5);
  EXPECT_EQ(outcome.fit->coefficients, (std::vector<std::int64_t>{0, 0}));
}

TEST(LinearFit, ContradictionsAreInconsistent) {
  const FitOutcome outcome = fit_linear({{{1}, 1}, {{2}, 2}, {{3}, 4}}, {0});
  EXPECT_FALSE(outcome.fit);
  EXPECT_EQ(outcome.failure, FitFailure::inconsistent);
}

TEST(LinearFit, FractionsAreToldFromContradictions) {
  // value = column / 2 holds on all samples, but not in integers.
  const FitOutcome outcome = fit_linear({{{0}, 0}, {{2}, 1}, {{4}, 2}}, {0});
  ASSERT_TRUE(outcome.failure == FitFailure::not_integer);
  // A second column that explains them in integers is found in another order.
  const std::vector<FitSample> samples = {{{0, 0}, 0}, {{2, 1}, 1}, {{4, 2}, 2}};
  EXPECT_EQ(fit_linear(samples, {0, 1}).failure, FitFailure::not_integer);
  EXPECT_TRUE(fit_linear(samples, {1, 0}).fit);
}

}  // namespace
}  // namespace fm
