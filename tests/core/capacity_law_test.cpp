#include "core/capacity_law.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

DeviceConfig with(const std::string& path, const std::string& value) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  config.set(path, value);
  return config;
}

TEST(CapacityLaw, FourTimesTheCapacityCostsTwice) {
  const DeviceConfig before = DeviceConfig::load("mali-g715");
  DeviceConfig after = with("l2.size", "4 MiB");
  scale_with_capacities(before, {}, &after);
  EXPECT_EQ(after.cycles("l2.latency").count(), 2 * before.cycles("l2.latency").count());
  EXPECT_DOUBLE_EQ(after.picojoules("energy.l2_read"), 2 * before.picojoules("energy.l2_read"));
  EXPECT_DOUBLE_EQ(after.picojoules("energy.l2_write"), 2 * before.picojoules("energy.l2_write"));
  EXPECT_EQ(after.time("slc.latency"), before.time("slc.latency"));
  EXPECT_EQ(after.picojoules("energy.slc_read"), before.picojoules("energy.slc_read"));
}

TEST(CapacityLaw, AClusterCacheHasALatencyOnly) {
  const DeviceConfig before = DeviceConfig::load("adreno-750");
  DeviceConfig after = before;
  after.set("cluster.size", std::to_string(4 * before.bytes("cluster.size").count()) + " B");
  scale_with_capacities(before, {}, &after);
  EXPECT_EQ(after.cycles("cluster.latency").count(), 2 * before.cycles("cluster.latency").count());
  EXPECT_EQ(after.picojoules("energy.l2_read"), before.picojoules("energy.l2_read"));
}

TEST(CapacityLaw, WhatIsGivenStays) {
  const DeviceConfig before = DeviceConfig::load("mali-g715");
  DeviceConfig after = with("l2.size", "4 MiB");
  after.set("l2.latency", "17 cycles");
  scale_with_capacities(before, {"l2.size", "l2.latency"}, &after);
  EXPECT_EQ(after.cycles("l2.latency").count(), 17u);
  EXPECT_DOUBLE_EQ(after.picojoules("energy.l2_read"), 2 * before.picojoules("energy.l2_read"));
}

TEST(CapacityLaw, NothingChangesWithoutACapacity) {
  const DeviceConfig before = DeviceConfig::load("mali-g715");
  DeviceConfig after = with("l2.mshrs", "12");
  scale_with_capacities(before, {}, &after);
  EXPECT_TRUE(changed_capacities(before, after).empty());
  EXPECT_EQ(after.to_yaml(), with("l2.mshrs", "12").to_yaml());
}

TEST(CapacityLaw, EveryCapacityHasCostsInTheSchema) {
  const DeviceConfig config = DeviceConfig::load("adreno-750");
  for (const CapacityCosts& costs : capacity_costs()) {
    EXPECT_EQ(config.values().count(costs.capacity), 1u) << costs.capacity;
    for (const std::string& path : costs.paths()) {
      EXPECT_EQ(config.values().count(path), 1u) << path;
    }
  }
}

TEST(CapacityLaw, ASmallMemoryStillTakesACycle) {
  const DeviceConfig before = DeviceConfig::load("mali-g715");
  DeviceConfig start = before;
  start.set("l2.latency", "1 cycle");
  DeviceConfig after = start;
  after.set("l2.size", "256 KiB");
  scale_with_capacities(start, {}, &after);
  EXPECT_EQ(after.cycles("l2.latency").count(), 1u);
}

}  // namespace
}  // namespace fm
