#pragma once
// A device in numbers that launch times are set in relation to, so that what is learnt on one
// device says something of another.

#include <string>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

/// Kept in profiles. Times in nanoseconds, rates a nanosecond of the whole GPU.
struct DeviceRates {
  std::string isa;              ///< "adreno", "valhall" or "bifrost": which registers count
  double cores = 0, clock = 0;  ///< clock: cycles a nanosecond
  double wave_width = 0, waves = 0, registers = 0, full_occupancy_registers = 0;  ///< a core
  double streaming_registers = 0, workgroups = 0, local_bytes = 0;
  double fma = 0, half_ratio = 0, special = 0, convert = 0, integer = 0;  ///< scalar operations
  double issue = 0;                                                       ///< instructions
  double texels = 0;  ///< fetches of four halves
  double lanes = 0;   ///< work-items' accesses to buffers, of at most 16 bytes
  double l1_bytes = 0, l2_bytes = 0, slc_bytes = 0, dram_bytes = 0;
  double l1_size = 0, l2_size = 0, slc_size = 0;  ///< bytes; slc_size: the GPU's share
  double latency = 0;                             ///< of a load that the system-level cache answers
  double near_latency = 0;  ///< of a texture fetch that the core's cache answers
  double store_bytes = 0;   ///< that a core may have on their way to the L2
  double launch_overhead = 0;
};

DeviceRates device_rates(const DeviceConfig& config);

/// Every number by name, in the order of files.
struct DeviceRateName {
  const char* name;
  double DeviceRates::*rate;
};
const std::vector<DeviceRateName>& device_rate_names();

}  // namespace fm
