#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/device_config.hpp"
#include "core/figures_text.hpp"
#include "tests/core/error_message.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using Kind = QuantityKind;

double parse(const std::string& text, Kind kind) { return parse_quantity(text, kind, {}); }
std::string error(const std::string& text, Kind kind) {
  return user_error_of([&] { parse_quantity(text, kind, {"f.yaml", 4, 9}); });
}

TEST(QuantityText, EveryUnitHasItsFactor) {
  EXPECT_EQ(parse("3 B", Kind::bytes), 3);
  EXPECT_EQ(parse("2 KiB", Kind::bytes), 2048);
  EXPECT_EQ(parse("2MiB", Kind::bytes), 2097152);
  EXPECT_EQ(parse("  1.5 GiB ", Kind::bytes), 1610612736);
  EXPECT_EQ(parse("890 MHz", Kind::frequency), 890e6);
  EXPECT_EQ(parse("0.9 GHz", Kind::frequency), 0.9e9);
  EXPECT_EQ(parse("8533 MT/s", Kind::frequency), 8533e6);
  EXPECT_EQ(parse("7 ps", Kind::time), 7);
  EXPECT_EQ(parse("18.75 ns", Kind::time), 18750);
  EXPECT_EQ(parse("20 us", Kind::time), 20e6);
  EXPECT_EQ(parse("1 ms", Kind::time), 1e9);
  EXPECT_EQ(parse("1 s", Kind::time), 1e12);
  EXPECT_EQ(parse("66 cycles", Kind::cycles), 66);
  EXPECT_EQ(parse("1 cycle", Kind::cycles), 1);
  EXPECT_EQ(parse("57 GB/s", Kind::bandwidth), 57e9);
  EXPECT_EQ(parse("1 GiB/s", Kind::bandwidth), 1073741824);
  EXPECT_EQ(parse("0.92 pJ", Kind::energy), 0.92);
  EXPECT_EQ(parse("3 nJ", Kind::energy), 3000);
  EXPECT_EQ(parse("2 W", Kind::power), 2000);
  EXPECT_EQ(parse("7", Kind::count), 7);
  EXPECT_EQ(parse("0.5", Kind::ratio), 0.5);
  EXPECT_EQ(parse("50 %", Kind::ratio), 0.5);
}

TEST(QuantityText, WrongUnitsNameTheAcceptedOnes) {
  EXPECT_THAT(error("2 MB", Kind::bytes), HasSubstr("f.yaml:4:9: '2 MB' has the unit 'MB'"));
  EXPECT_THAT(error("2 MB", Kind::bytes), HasSubstr("did you mean 'MiB'?"));
  EXPECT_THAT(error("2 MB", Kind::bytes), HasSubstr("accepted: B, KiB, MiB, GiB"));
  EXPECT_THAT(error("5 ns", Kind::cycles), HasSubstr("a number of clock cycles"));
  EXPECT_THAT(error("5 cycles", Kind::time), HasSubstr("accepted: ps, ns, us, ms, s"));
  EXPECT_THAT(error("5 MHz", Kind::count), HasSubstr("takes none"));
}

TEST(QuantityText, MissingUnitsAndBadNumbersAreErrors) {
  EXPECT_THAT(error("4096", Kind::bytes), HasSubstr("has no unit"));
  for (const char* text : {"", "abc", "KiB", "nan B", "inf B", "1e999 B", "--3 B", "0x10 B"}) {
    EXPECT_NE(error(text, Kind::bytes), "") << text;
  }
  EXPECT_NE(error("32abc", Kind::count), "");
  EXPECT_NE(error("1 2", Kind::count), "");
}

TEST(QuantityText, CountsAndBytesAreWhole) {
  EXPECT_THAT(error("2.5", Kind::count), HasSubstr("not a whole number"));
  EXPECT_THAT(error("0.3 B", Kind::bytes), HasSubstr("whole number of bytes"));
  EXPECT_THAT(error("1.5 cycles", Kind::cycles), HasSubstr("not a whole number"));
  EXPECT_EQ(parse("1.5 KiB", Kind::bytes), 1536);
  EXPECT_EQ(parse("29.89 MiB", Kind::bytes), 31341936);  // to the byte nobody can write
}

TEST(QuantityText, BudgetsAreRoundedSoThatTheyCanBeGivenBack) {
  EXPECT_EQ(mebibytes_up(Bytes(36259758)), "34.58 MiB");
  EXPECT_EQ(mebibytes_down(Bytes(36259758)), "34.57 MiB");
  EXPECT_EQ(mebibytes_up(Bytes(1)), "0.01 MiB");
  EXPECT_EQ(mebibytes_up(Bytes(3 << 20)), "3.00 MiB");
  EXPECT_EQ(mebibytes_down(Bytes(3 << 20)), "3.00 MiB");
  EXPECT_EQ(least_budget_text(Bytes(36259758)), "34.58 MiB (--budget 35410KiB)");
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bytes = random() >> (18 + random() % 44);
    const std::string text = least_budget_text(Bytes(bytes));
    const std::size_t from = text.find("--budget ") + 9;
    const double back = parse(text.substr(from, text.size() - from - 1), Kind::bytes);
    ASSERT_GE(back, static_cast<double>(bytes));
    ASSERT_LT(back, static_cast<double>(bytes + 1024));
    ASSERT_LE(mebibytes_down(Bytes(bytes)).size(), mebibytes_up(Bytes(bytes)).size());
  }
}

}  // namespace
}  // namespace fm
