#include "core/real_number.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

namespace fm {
namespace {

/// That all of it agrees with std::from_chars, which this computer's library has.
void expect_as_from_chars(const std::string& text) {
  double expected = 7, found = 7;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
  const auto [stop, ours] = read_real(text, found);
  EXPECT_EQ(ours, error) << text;
  EXPECT_EQ(stop - text.c_str(), end - text.data()) << text;
  if (expected == expected) {  // no NaN
    EXPECT_EQ(found, expected) << text;
  }
}

TEST(RealNumber, IsReadAsByFromChars) {
  for (const char* text :
       {"",      "-",      "+1",     " 1",       "- 1",  "-+1",      "--1",
        "1",     "-1",     "1.5",    ".5",       "-.5",  "5.",       ".",
        "1e3",   "1e",     "1e+",    "4 GB",     "4GB",  "4e2B",     "0x10",
        "-0x10", "0",      "-0",     "inf",      "-inf", "infinity", "nan",
        "1e999", "-1e999", "1e-999", "4.9e-324", "1,5",  "e5",       "1.7976931348623157e308"}) {
    expect_as_from_chars(text);
  }
}

TEST(RealNumber, RandomNumbersComeBack) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 10000; ++trial) {
    char text[64];
    const double exponent = std::uniform_real_distribution<double>(-320, 320)(random);
    std::snprintf(text, sizeof text, "%.*ge%d", static_cast<int>(random() % 18) + 1,
                  std::uniform_real_distribution<double>(-10, 10)(random),
                  static_cast<int>(exponent));
    expect_as_from_chars(text);
  }
}

}  // namespace
}  // namespace fm
