#include "executor/launch_slices.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace fm {
namespace {

std::uint64_t items(WorkSize size) { return size[0] * size[1] * size[2]; }

TEST(LaunchSlices, CoverEachWorkGroupOnce) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    WorkSize local, global;
    for (std::size_t d = 0; d < 3; ++d) {
      local[d] = 1 + random() % 4;
      global[d] = local[d] * (1 + random() % 9);
    }
    const std::uint64_t count = 1 + random() % 12;
    const std::vector<LaunchSlice> slices = slices_of(global, local, count);
    EXPECT_LE(slices.size(), count);
    std::set<WorkSize> seen;
    for (const LaunchSlice& slice : slices) {
      EXPECT_GT(items(slice.global), 0u);
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_EQ(slice.offset[d] % local[d], 0u);
        EXPECT_EQ(slice.global[d] % local[d], 0u);
      }
      for (std::uint64_t x = 0; x < slice.global[0]; ++x)
        for (std::uint64_t y = 0; y < slice.global[1]; ++y)
          for (std::uint64_t z = 0; z < slice.global[2]; ++z) {
            EXPECT_TRUE(seen.insert({slice.offset[0] + x, slice.offset[1] + y, slice.offset[2] + z})
                            .second);
          }
    }
    EXPECT_EQ(seen.size(), items(global));
  }
}

TEST(LaunchSlices, AreAsEqualAsWorkGroupsAllow) {
  const std::vector<LaunchSlice> slices = slices_of({8, 70, 1}, {8, 1, 1}, 4);
  ASSERT_EQ(slices.size(), 4u);
  for (const LaunchSlice& slice : slices) {
    EXPECT_EQ(slice.global[0], 8u);
    EXPECT_GE(slice.global[1], 17u);
    EXPECT_LE(slice.global[1], 18u);
  }
  EXPECT_EQ(slices_of({8, 1, 1}, {8, 1, 1}, 4).size(), 1u);  // one work-group cannot be split
}

class Cap : public ::testing::Test {
 protected:
  Cap() {
    device_.compute_units = 1;
    device_.clock_mhz = 500;  // 1 multiply-add a nanosecond is assumed
    launch_.id = "L0";
    launch_.global = {1000, 1, 1};
    launch_.local = {1, 1, 1};
    launch_.macs = 10'000'000;  // 10 ms then
  }
  OpenClDevice device_;
  PlanLaunch launch_;
};

TEST_F(Cap, SplitsByEstimateThenByWhatWasMeasured) {
  LaunchCap cap(Nanoseconds(2'000'000), device_);
  EXPECT_EQ(cap.slices(launch_).size(), 5u);
  cap.measured(launch_, 40'000'000);
  EXPECT_EQ(cap.slices(launch_).size(), 20u);
  PlanLaunch like = launch_;  // four times as slow as was assumed
  like.id = "L1";
  EXPECT_EQ(cap.slices(like).size(), 20u);
}

TEST_F(Cap, AFastDeviceIsLearnedLaunchByLaunch) {
  LaunchCap cap(Nanoseconds(2'000'000), device_);
  cap.measured(launch_, 1'000'000);
  EXPECT_EQ(cap.slices(launch_).size(), 1u);
  PlanLaunch other = launch_;
  other.id = "L1";
  EXPECT_EQ(cap.slices(other).size(), 5u);
}

TEST_F(Cap, ShortLaunchesSayNothingOfTheRate) {
  LaunchCap cap(Nanoseconds(2'000'000), device_);
  PlanLaunch small = launch_;
  small.id = "L1";
  small.macs = 10;
  cap.measured(small, 100'000);
  EXPECT_EQ(cap.slices(launch_).size(), 5u);
}

TEST_F(Cap, IsTheDefaultOnGpusAlone) {
  device_.type = CL_DEVICE_TYPE_CPU;
  EXPECT_FALSE(default_launch_cap(device_).has_value());
  device_.type = CL_DEVICE_TYPE_GPU;
  EXPECT_EQ(default_launch_cap(device_), Nanoseconds(100'000'000));
}

}  // namespace
}  // namespace fm
