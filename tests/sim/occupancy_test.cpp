#include "sim/gpu/occupancy.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

struct Case {
  std::uint32_t waves_per_group, registers, local_bytes, groups;
  OccupancyLimit limit;
};

constexpr OccupancyLimit slots = OccupancyLimit::wave_slots, registers = OccupancyLimit::registers,
                         local = OccupancyLimit::local_memory, groups = OccupancyLimit::work_groups;

TEST(Occupancy, MaliTable) {
  Occupancy mali;
  mali.waves = 128;
  mali.wave_width = 16;
  mali.registers = 65536;
  mali.full_occupancy_registers = 32;
  mali.workgroups = 128;
  mali.local_bytes = 32768;
  const Case cases[] = {
      {4, 32, 0, 32, slots},                                  // 128 waves / 4
      {4, 33, 0, 16, registers},                              // above 32 registers half the slots
      {4, 64, 0, 16, registers},  {4, 65, 0, 15, registers},  // 65536 / (65 * 16) = 63 waves
      {4, 32, 8192, 4, local},                                // 32 KiB of local memory
      {64, 32, 0, 2, slots},      {64, 33, 0, 1, registers},
      {128, 33, 0, 0, registers},  // does not fit
      {4, 32, 65536, 0, local},   {3, 32, 0, 42, slots},
  };
  for (const Case& one : cases) {
    const Occupancy::Fit fit = mali.fit(one.waves_per_group, one.registers, one.local_bytes);
    EXPECT_EQ(fit.groups, one.groups) << one.waves_per_group << " waves, " << one.registers
                                      << " registers, " << one.local_bytes << " B";
    EXPECT_EQ(fit.limit, one.limit) << to_string(fit.limit);
  }
}

TEST(Occupancy, AdrenoSharesItsRegistersWithoutAStep) {
  Occupancy adreno;
  adreno.waves = 32;
  adreno.wave_width = 64;
  adreno.registers = 49152;
  adreno.full_occupancy_registers = 512;
  adreno.workgroups = 16;
  EXPECT_EQ(adreno.fit(4, 16, 0).groups, 8u);
  EXPECT_EQ(adreno.fit(4, 16, 0).limit, slots);
  EXPECT_EQ(adreno.fit(4, 32, 0).groups, 6u);
  EXPECT_EQ(adreno.fit(4, 32, 0).limit, registers);
  EXPECT_EQ(adreno.fit(1, 16, 0).groups, 16u);
  EXPECT_EQ(adreno.fit(1, 16, 0).limit, groups);
}

}  // namespace
}  // namespace fm
