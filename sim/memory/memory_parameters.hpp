#pragma once
// The device config's numbers below the shader cores, converted to what the models use.

#include "core/device_config.hpp"
#include "sim/memory/block.hpp"
#include "sim/memory/cache_parameters.hpp"
#include "sim/memory/dram_parameters.hpp"
#include "sim/memory/mmu_parameters.hpp"

namespace fm {

struct MemoryParameters {
  Clock clock;
  std::uint32_t cores = 1;          ///< of the GPU
  std::uint32_t cluster_cores = 1;  ///< that share a cluster cache
  CacheParameters cluster;          ///< bytes 0: no such level
  CacheParameters l2, slc;
  DramParameters dram;
  MmuParameters mmu;
  /// Between a core and the level it asks first: the L2 or its cluster's cache. Half of that
  /// level's own latency lies before the look-up, half after, so that to the L2 the sum is
  /// noc.latency twice and l2.latency once, and the lookahead is as long as it can be.
  std::uint32_t request_cycles = 1, answer_cycles = 1;
  std::uint32_t l2_request_cycles = 1, l2_answer_cycles = 1;  ///< between cores or clusters and L2
  Ticks l2_to_slc = 1;                                        ///< one way
  Ticks slc_to_dram = 1;                                      ///< one way
  std::uint32_t port_lines = 1;
};

/// Throws UserError naming the keys when they contradict each other beyond what
/// DeviceConfig::check() sees.
MemoryParameters memory_parameters(const DeviceConfig& config);

/// The DRAM part of it.
DramParameters dram_parameters(const DeviceConfig& config);

}  // namespace fm
