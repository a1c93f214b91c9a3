#include "sim/gpu/occupancy.hpp"

#include <algorithm>

namespace fm {

std::uint32_t Occupancy::groups(std::uint32_t waves_per_group, std::uint32_t registers_per_item,
                                std::uint64_t local_bytes_per_group) const {
  std::uint32_t wave_slots = registers_per_item > full_occupancy_registers ? waves / 2 : waves;
  const std::uint32_t per_wave = std::max(1u, registers_per_item) * wave_width;
  wave_slots = std::min(wave_slots, registers / per_wave);
  std::uint32_t fitting = std::min(workgroups, wave_slots / waves_per_group);
  if (local_bytes_per_group != 0) {
    fitting = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(fitting, local_bytes / local_bytes_per_group));
  }
  return fitting;
}

}  // namespace fm
