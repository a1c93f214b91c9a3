#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/tensor_layout.hpp"

namespace fm {
namespace {

/// Value of a half by the definition of IEEE 754, in double: independent of the code under test.
double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

/// Nearest half by search over all positive ones, ties to the even pattern; 65520 and above is
/// infinity.
std::uint16_t nearest_half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520) return sign | 0x7c00;
  std::uint16_t low = 0, high = 0x7c00;  // half_value(low) <= magnitude < half_value(high)
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (half_value(middle) <= magnitude ? low : high) = middle;
  }
  const double above = high == 0x7c00 ? 65536.0 : half_value(high);
  const double down = magnitude - half_value(low), up = above - magnitude;
  const bool take_high = up < down || (up == down && high % 2 == 0);
  return sign | (take_high ? high : low);
}

TEST(Half, EveryHalfBecomesItsFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double expected = half_value(half);
    const float value = float_from_half(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else {
      EXPECT_EQ(value, expected) << bits;
      EXPECT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    }
  }
}

TEST(Half, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const std::uint16_t back = half_from_float(float_from_half(half));
    if (std::isnan(half_value(half))) {
      EXPECT_TRUE(std::isnan(half_value(back))) << bits;
    } else {
      EXPECT_EQ(back, half);
    }
  }
}

TEST(Half, MidpointsBetweenNeighboursGoToTheEvenOne) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) {
    const auto middle = static_cast<float>((half_value(low) + half_value(low + 1)) / 2);
    const std::uint16_t even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(half_from_float(middle), even) << low;
    ASSERT_EQ(half_from_float(-middle), even | 0x8000) << low;
    const float infinity = std::numeric_limits<float>::infinity();
    ASSERT_EQ(half_from_float(std::nextafterf(middle, 0)), low) << low;
    ASSERT_EQ(half_from_float(std::nextafterf(middle, infinity)), low + 1) << low;
  }
}

TEST(Half, OverflowRoundsToInfinityFromTheLastMidpointOn) {
  EXPECT_EQ(half_from_float(65504), 0x7bff);
  EXPECT_EQ(half_from_float(std::nextafterf(65520, 0)), 0x7bff);
  EXPECT_EQ(half_from_float(65520), 0x7c00);
  EXPECT_EQ(half_from_float(-1e30F), 0xfc00);
  EXPECT_EQ(half_from_float(std::numeric_limits<float>::infinity()), 0x7c00);
}

TEST(Half, RandomFloatPatternsRoundToTheNearest) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const std::uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(half_value(half_from_float(value))));
    } else {
      ASSERT_EQ(half_from_float(value), nearest_half(value)) << value;
    }
    // Most patterns are far outside half's range: the same mantissa inside it.
    const float inside = std::ldexp(1 + static_cast<float>(bits % 8388608) / 8388608,
                                    static_cast<int>(bits >> 23) % 45 - 28);
    ASSERT_EQ(half_from_float(inside), nearest_half(inside)) << inside;
  }
}

}  // namespace
}  // namespace fm
