#include "sim/stats/result_difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fm {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json launch(const std::string& id, std::uint64_t start, std::uint64_t end,
            const std::string& bound = "l2") {
  return {
      {"id", id}, {"operation", "MatMul"}, {"bound", bound}, {"start_ns", start}, {"end_ns", end}};
}

json result(std::uint64_t exec, std::uint64_t peak, double energy, const json& launches,
            const json& counters) {
  return {{"latency", {{"integrated_ns", 1000 + exec}, {"init_ns", 1000}, {"exec_ns", exec}}},
          {"memory", {{"peak_bytes", peak}, {"average_bytes", peak}}},
          {"energy", {{"total_nj", energy}}},
          {"launches", launches},
          {"counters", counters}};
}

json counter(double value) { return {{"value", value}, {"unit", "requests"}}; }

std::vector<std::string> names(const std::vector<Difference>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const Difference& row : rows) names.push_back(row.name);
  return names;
}

TEST(ResultDifference, TheLargestEffectComesFirst) {
  const json before = result(1000, 500, 10, {launch("L0", 0, 100), launch("L1", 100, 900)},
                             {{"l2.hits", counter(10)}, {"dram.reads", counter(100)}});
  const json now = result(500, 500, 9, {launch("L0", 0, 110), launch("L1", 110, 400, "alu")},
                          {{"l2.hits", counter(11)}, {"dram.reads", counter(20)}});
  const ResultDifference difference = difference_of(before, now);
  EXPECT_EQ(names(difference.headline).front(), "execution");
  EXPECT_DOUBLE_EQ(difference.headline.front().effect(), 0.5);
  EXPECT_THAT(names(difference.launches), ElementsAre("L1", "L0"));
  EXPECT_EQ(difference.launches.front().change(), -510);
  EXPECT_EQ(difference.launches.front().note, "MatMul, l2 -> alu");
  EXPECT_THAT(names(difference.counters), ElementsAre("dram.reads", "l2.hits"));
}

TEST(ResultDifference, WhatIsEqualIsLeftOut) {
  const json same = result(1000, 500, 10, json::array({launch("L0", 0, 100)}),
                           json::object({{"l2.hits", counter(10)}}));
  const ResultDifference difference = difference_of(same, same);
  EXPECT_TRUE(difference.launches.empty());
  EXPECT_TRUE(difference.counters.empty());
  EXPECT_EQ(difference.headline.size(), 6u);
  EXPECT_EQ(difference.headline.front().effect(), 0);
}

TEST(ResultDifference, LaunchesThatOneRunLacksAreCounted) {
  const json before = result(1, 1, 1, {launch("L0", 0, 1), launch("L1", 1, 2)}, json::object());
  const json now = result(1, 1, 1, {launch("L0", 0, 1), launch("L2", 1, 2)}, json::object());
  EXPECT_EQ(difference_of(before, now).unmatched_launches, 2u);
}

TEST(ResultDifference, ASignThatAssumptionsTurnIsFlagged) {
  const auto difference = [](std::uint64_t before, std::uint64_t now) {
    return difference_of(result(before, 10, 5, json::array(), json::object()),
                         result(now, 20, 5, json::array(), json::object()));
  };
  ResultDifference asked = difference(1000, 990);
  mark_unknown_signs(&asked, {difference(900, 890), difference(900, 905)});
  for (const Difference& row : asked.headline) {
    const bool time = row.name == "execution" || row.name == "integrated latency";
    EXPECT_EQ(row.sign_known, !time) << row.name;
  }
  EXPECT_THAT(difference_text(asked, 5), HasSubstr("-1.00 %  sign?"));
}

TEST(ResultDifference, ADifferenceThatVanishesKeepsItsSign) {
  const auto difference = [](std::uint64_t now) {
    return difference_of(result(1000, 10, 5, json::array(), json::object()),
                         result(now, 10, 5, json::array(), json::object()));
  };
  ResultDifference asked = difference(990);
  mark_unknown_signs(&asked, {difference(1000)});
  for (const Difference& row : asked.headline) EXPECT_TRUE(row.sign_known) << row.name;
}

TEST(ResultDifference, TheTableFitsATerminal) {
  json launches = json::array(), later = json::array();
  for (int i = 0; i < 30; ++i) {
    launches.push_back(launch("a-launch-with-a-long-name." + std::to_string(i), 0, 100000));
    later.push_back(launch("a-launch-with-a-long-name." + std::to_string(i), 0, 200000 + i));
  }
  const std::string text = difference_text(
      difference_of(result(1000, 1 << 30, 1e9, launches, json::object({{"new", counter(0)}})),
                    result(2000, 1 << 20, 2e9, later, json::object({{"new", counter(7)}}))),
      10);
  EXPECT_THAT(text, HasSubstr("and 20 more"));
  EXPECT_THAT(text, HasSubstr("new"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

}  // namespace
}  // namespace fm
