#include "sim/gpu/occupancy.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

struct Case {
  std::uint32_t waves_per_group, registers, local_bytes, groups;
};

TEST(Occupancy, MaliTable) {
  Occupancy mali;
  mali.waves = 128;
  mali.wave_width = 16;
  mali.registers = 65536;
  mali.full_occupancy_registers = 32;
  mali.workgroups = 128;
  mali.local_bytes = 32768;
  const Case cases[] = {
      {4, 32, 0, 32},                                      // 128 waves / 4
      {4, 33, 0, 16},                                      // above 32 registers half the slots
      {4, 64, 0, 16},    {4, 65, 0, 15},                   // 65536 / (65 * 16) = 63 waves
      {4, 32, 8192, 4},                                    // 32 KiB of local memory
      {64, 32, 0, 2},    {64, 33, 0, 1}, {128, 33, 0, 0},  // does not fit
      {4, 32, 65536, 0}, {3, 32, 0, 42},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(mali.groups(one.waves_per_group, one.registers, one.local_bytes), one.groups)
        << one.waves_per_group << " waves, " << one.registers << " registers, " << one.local_bytes
        << " B";
  }
}

TEST(Occupancy, AdrenoSharesItsRegistersWithoutAStep) {
  Occupancy adreno;
  adreno.waves = 32;
  adreno.wave_width = 64;
  adreno.registers = 49152;
  adreno.full_occupancy_registers = 512;
  adreno.workgroups = 16;
  EXPECT_EQ(adreno.groups(4, 16, 0), 8u);
  EXPECT_EQ(adreno.groups(4, 32, 0), 6u);
  EXPECT_EQ(adreno.groups(1, 16, 0), 16u) << "work-groups a core";
}

}  // namespace
}  // namespace fm
