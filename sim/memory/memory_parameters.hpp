#pragma once
// The device config's numbers below the shader cores, converted to what the models use.

#include "core/device_config.hpp"
#include "sim/memory/block.hpp"
#include "sim/memory/cache_parameters.hpp"
#include "sim/memory/dram_parameters.hpp"

namespace fm {

struct MemoryParameters {
  Clock clock;
  CacheParameters l2, slc;
  DramParameters dram;
  /// One way between a core and its slice: half of the L2's own latency lies before the look-up,
  /// half after, so that the sum is noc.latency twice and l2.latency once, and the lookahead is as
  /// long as it can be.
  std::uint32_t request_cycles = 1, answer_cycles = 1;
  Ticks l2_to_slc = 1;    ///< one way
  Ticks slc_to_dram = 1;  ///< one way
  std::uint32_t port_lines = 1;
};

/// Throws UserError naming the keys when they contradict each other beyond what
/// DeviceConfig::check() sees.
MemoryParameters memory_parameters(const DeviceConfig& config);

}  // namespace fm
