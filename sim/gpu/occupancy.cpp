#include "sim/gpu/occupancy.hpp"

#include <algorithm>

namespace fm {

std::string to_string(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::wave_slots:
      return "wave_slots";
    case OccupancyLimit::registers:
      return "registers";
    case OccupancyLimit::local_memory:
      return "local_memory";
    case OccupancyLimit::work_groups:
      return "work_groups";
    case OccupancyLimit::launch:
      return "launch";
  }
  return "?";
}

Occupancy::Fit Occupancy::fit(std::uint32_t waves_per_group, std::uint32_t registers_per_item,
                              std::uint64_t local_bytes_per_group) const {
  Fit fit{waves / waves_per_group, OccupancyLimit::wave_slots};
  const auto bound = [&fit](std::uint64_t groups, OccupancyLimit limit) {
    if (groups < fit.groups) fit = {static_cast<std::uint32_t>(groups), limit};
  };
  const std::uint32_t per_wave = std::max(1u, registers_per_item) * wave_width;
  const std::uint32_t step = registers_per_item > full_occupancy_registers ? waves / 2 : waves;
  bound(std::min(step, registers / per_wave) / waves_per_group, OccupancyLimit::registers);
  if (local_bytes_per_group != 0) {
    bound(local_bytes / local_bytes_per_group, OccupancyLimit::local_memory);
  }
  bound(workgroups, OccupancyLimit::work_groups);
  return fit;
}

}  // namespace fm
