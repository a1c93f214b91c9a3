#pragma once
// How many work-groups fit into a shader core at a time.

#include <cstdint>
#include <string>

namespace fm {

/// What keeps more work-groups from a core.
enum class OccupancyLimit : std::uint8_t {
  wave_slots,
  registers,
  local_memory,
  work_groups,  ///< the device's bound on groups a core
  launch        ///< the launch has no more
};
std::string to_string(OccupancyLimit limit);

/// Work-groups a core holds at a time. Waves: a work-item with more than `full_occupancy_registers`
/// halves the wave slots (Arm GPU datasheet: "half above 32"), and all waves' registers must fit
/// the register file. Local memory and the limit of work-groups bound it too. 0 when not even one
/// group fits.
struct Occupancy {
  std::uint32_t waves = 64;
  std::uint32_t wave_width = 16;
  std::uint32_t registers = 65536;
  std::uint32_t full_occupancy_registers = 32;
  std::uint32_t workgroups = 16;
  std::uint64_t local_bytes = 32768;
  struct Fit {
    std::uint32_t groups = 0;
    OccupancyLimit limit = OccupancyLimit::wave_slots;
  };
  /// Of limits that allow equally few groups, the first in the order of OccupancyLimit is named.
  Fit fit(std::uint32_t waves_per_group, std::uint32_t registers_per_item,
          std::uint64_t local_bytes_per_group) const;
};

}  // namespace fm
