#include "sim/commands/assumed_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/commands/config_options.hpp"

namespace fm {
namespace {

std::map<std::string, std::string> by_path(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    values[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return values;
}

TEST(AssumedNumbers, OnlyAssumedNumbersMoveAndTheConfigStaysWhole) {
  for (const char* name : {"mali-g715", "adreno-750", "adreno-540"}) {
    const DeviceConfig config = DeviceConfig::load(name);
    for (std::uint32_t corner = 0; corner < 4; ++corner) {
      const auto settings = moved_assumptions(config, 0.25, corner, {});
      EXPECT_FALSE(settings.empty());
      for (const auto& [path, value] : by_path(settings)) {
        EXPECT_EQ(config.values().at(path).source, SourceKind::assumed) << path;
      }
      EXPECT_NO_THROW(load_config(name, settings));
    }
  }
}

TEST(AssumedNumbers, ACornerIsTheSameEachTimeAndItsOppositeTheOtherWay) {
  const DeviceConfig config = DeviceConfig::load("mali-g715");
  EXPECT_EQ(moved_assumptions(config, 0.25, 2, {}), moved_assumptions(config, 0.25, 2, {}));
  EXPECT_NE(moved_assumptions(config, 0.25, 0, {}), moved_assumptions(config, 0.25, 2, {}));
  const auto one = by_path(moved_assumptions(config, 0.25, 0, {}));
  const auto other = by_path(moved_assumptions(config, 0.25, 1, {}));
  const std::string path = "energy.load_store_write";
  const double before = config.picojoules(path);
  const auto moved = [&](const std::map<std::string, std::string>& values) {
    return parse_quantity(values.at(path), QuantityKind::energy, {"x"});
  };
  EXPECT_DOUBLE_EQ(moved(one) + moved(other), 2 * before);
  EXPECT_DOUBLE_EQ(std::max(moved(one), moved(other)), 1.25 * before);
}

TEST(AssumedNumbers, WhatIsAskedAboutStays) {
  const DeviceConfig config = DeviceConfig::load("mali-g715");
  const std::string path = "energy.load_store_write";
  EXPECT_EQ(by_path(moved_assumptions(config, 0.25, 0, {path})).count(path), 0u);
}

}  // namespace
}  // namespace fm
