#include "executor/device_clock.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

TEST(DeviceClock, MovesADevicesTimesOntoTheHosts) {
  DeviceClock clock;
  const EventTimes launch{5'000, 5'010, 5'100, 5'400};
  clock.observe(2'000, launch);
  const EventTimes moved = clock.on_host(launch);
  EXPECT_EQ(moved.queued, 2'000u);
  EXPECT_EQ(moved.submitted, 2'010u);
  EXPECT_EQ(moved.started, 2'100u);
  EXPECT_EQ(moved.ended, 2'400u);
}

TEST(DeviceClock, AHostStoppedWhileItEnqueuesDoesNotLetLaunchesOverlap) {
  // The host was stopped for 500 ns between its clock and the driver's, at the second launch.
  const EventTimes first{1'000, 1'000, 1'100, 1'700}, second{1'600, 1'600, 1'700, 1'900};
  DeviceClock clock;
  clock.observe(90, first);
  clock.observe(190, second);
  EXPECT_EQ(clock.on_host(first).ended, clock.on_host(second).started);
  EXPECT_EQ(clock.on_host(first).queued, 90u);
  EXPECT_EQ(clock.on_host(second).started, 790u);
}

TEST(DeviceClock, NoCommandIsQueuedBeforeTheHostBegan) {
  const EventTimes first{50, 50, 60, 70}, second{400, 400, 500, 600};
  DeviceClock clock;
  clock.observe(9'000, first);
  clock.observe(9'380, second);
  EXPECT_GE(clock.on_host(first).queued, 9'000u);
  EXPECT_GE(clock.on_host(second).queued, 9'380u);
}

}  // namespace
}  // namespace fm
