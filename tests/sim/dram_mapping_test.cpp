// Address mappings of a DRAM channel.

#include "sim/memory/dram_mapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "core/diagnostics.hpp"
#include "tests/core/error_message.hpp"

namespace fm {
namespace {

DramParameters channel(const std::string& mapping, const std::string& hash = "none") {
  DramParameters dram;
  dram.banks = 8;
  dram.bank_groups = 2;
  dram.rows = 16;
  dram.row_bytes = 512;
  dram.burst_bytes = 32;
  dram.line_bytes = 64;
  dram.mapping = mapping;
  dram.hash = hash;
  return dram;
}

TEST(DramMapping, WordsFromHighToLow) {
  // 4 row, 2 bank, 1 group and 4 column bits over 5 bits of a burst; the lowest column bit is a
  // request's second burst.
  const DramPlace place =
      DramMapping(channel("row bank group column")).locate(0b1010'11'1'0110'11111);
  EXPECT_EQ(place.row, 0b1010u);
  EXPECT_EQ(place.bank, 0b111u) << "group on top";
  EXPECT_EQ(place.group, 1u);
  EXPECT_EQ(place.column, 0b0110u);
}

TEST(DramMapping, AFieldInPieces) {
  const DramPlace place =
      DramMapping(channel("row column bank group column:1")).locate(0b0001'10'10'1'1'0'00000);
  EXPECT_EQ(place.row, 1u);
  EXPECT_EQ(place.bank, 0b110u);
  EXPECT_EQ(place.column, 0b1010u) << "the piece at the higher address is the higher part";
}

TEST(DramMapping, RowsBeyondTheChipStayApart) {
  const DramMapping mapping(channel("row bank group column"));
  EXPECT_EQ(mapping.locate(std::uint64_t{1} << 40).row, std::uint64_t{1} << 28);
}

TEST(DramMapping, HashesPermute) {
  for (const char* hash : {"none", "row", "column"}) {
    for (const char* words : {"row bank column group", "bank group row column"}) {
      const DramMapping mapping(channel(words, hash));
      std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> places;
      const std::uint64_t bursts = 16 * 8 * 16;
      for (std::uint64_t burst = 0; burst < bursts; ++burst) {
        const DramPlace place = mapping.locate(burst * 32);
        places.insert({place.bank, place.row, place.column});
        const DramPlace line = mapping.locate(burst / 2 * 64);
        EXPECT_EQ(place.bank, line.bank) << "a request stays in one bank";
        EXPECT_EQ(place.row, line.row);
        EXPECT_EQ(place.group, place.bank / 4);
      }
      EXPECT_EQ(places.size(), bursts) << words << " " << hash;
    }
  }
}

TEST(DramMapping, StridesOfARowSpreadOverBanksWithHash) {
  const DramMapping mapping(channel("row bank group column", "row"));
  std::set<std::uint32_t> banks;
  for (std::uint64_t row = 0; row < 8; ++row) banks.insert(mapping.locate(row << 12).bank);
  EXPECT_EQ(banks.size(), 8u);
}

TEST(DramMapping, RefusesWhatIsNoMapping) {
  const auto message = [](const std::string& mapping) {
    return user_error_of([&] { (void)DramMapping(channel(mapping)); });
  };
  EXPECT_THAT(message("row bank group col"), testing::HasSubstr("unknown field 'col'"));
  EXPECT_THAT(message("row bank column"), testing::HasSubstr("leaves out 1 bits of group"));
  EXPECT_THAT(message("row bank group column:9"), testing::HasSubstr("more bits than the 3"));
  EXPECT_THAT(message("row bank group:x column"), testing::HasSubstr("group"));
}

TEST(DramMapping, KnowsOtherSimulatorsNames) {
  std::string words, hash;
  ASSERT_TRUE(DramMapping::named("MOP4CLXOR", &words, &hash));
  EXPECT_EQ(words, "row column bank group column:2");
  EXPECT_EQ(hash, "column");
  EXPECT_FALSE(DramMapping::named("row bank group column", &words, &hash));
}

}  // namespace
}  // namespace fm
