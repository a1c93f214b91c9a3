#pragma once
// Numbers of one shader core. Cycles are GPU cycles.

#include <array>
#include <cstdint>

#include "core/device_config.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/memory/image_layout.hpp"

namespace fm {

constexpr std::uint32_t maximum_engines = 16;
constexpr std::uint32_t maximum_waves = 128;       ///< wave slots of a core
constexpr std::uint32_t maximum_outstanding = 64;  ///< loads of one wave in flight
constexpr std::size_t arithmetic_kind_count = 5;   ///< trace::ArithmeticKind

/// A pipe with a bounded queue in front and, for memory units, a first-level cache.
struct UnitParameters {
  std::uint32_t queue = 8;     ///< accesses accepted and not yet begun
  std::uint32_t latency = 20;  ///< from the pipe to data back in the register file, on a hit
  std::uint32_t bytes_per_cycle = 64;  ///< of data returned or taken
  double lanes_per_cycle = 16;         ///< load/store: addresses taken
  std::uint32_t lane_bytes = 16;    ///< load/store: of a lane in one access; wider ones are split
  std::uint32_t atomic_cycles = 1;  ///< load/store: between operations of a wave on one word
  std::uint32_t return_bytes_per_cycle = 64;  ///< texture: of results to the registers
  std::uint32_t wide_ways = 4;                ///< texture: that texels above 32 bits may fill
  std::uint64_t cache_bytes = 0;              ///< 0: no cache, every line goes to the L2
  std::uint32_t line_bytes = 64;
  std::uint32_t ways = 4;
  std::uint32_t mshrs = 16;             ///< lines being fetched
  std::uint32_t targets = 8;            ///< accesses that wait for one line, the first included
  std::uint32_t write_credits = 16;     ///< line writes not yet acknowledged
  bool write_back = false;              ///< else writes go past the cache to the L2
  bool perfect = false;                 ///< reads always hit and take one cycle of the pipe
  std::uint32_t write_line_bytes = 64;  ///< of writes past the cache: the L2's line
};

enum class LocalBacking { banks, cache };

struct CoreParameters {
  std::uint32_t wave_width = 16;
  bool skips_inactive_lanes = false;  ///< arithmetic and texels of active lanes alone take time
  std::uint32_t engines = 4;          ///< each issues one step a cycle
  std::uint32_t waves = 64;
  std::uint32_t outstanding_loads = 8;
  bool oldest_first = true;  ///< else loose round robin
  /// Lanes a cycle and engine by arithmetic kind, of 32-bit operands.
  std::array<double, arithmetic_kind_count> lanes{32, 32, 4, 16, 16};
  double half_speedup = 2;               ///< of FMA, ADD and SPECIAL on half operands
  std::uint32_t arithmetic_latency = 4;  ///< from issue of its last part to the wave's next step
  std::uint32_t wave_start = 1;          ///< cycles between waves of a group starting
  /// Of an engine before a wave's first step; of each active lane where inactive ones are skipped.
  std::uint32_t work_item_start = 0;
  std::uint32_t barrier_latency = 4;
  Occupancy occupancy;
  UnitParameters load_store, texture, local;
  LocalBacking local_backing = LocalBacking::banks;
  std::uint32_t local_banks = 16;
  double texels_per_cycle = 8;  ///< of up to 32 bits
  double wide_texel_ratio = 2;  ///< cost of a texel above 32 bits over one of up to 32 bits
  bool image_writes_cached =
      true;  ///< write_imagef through the load/store cache, else straight to the L2
  TexelLayout texels;
  std::uint32_t link_bytes_per_cycle = 64;                  ///< core to interconnect, each way
  std::uint32_t request_latency = 11, answer_latency = 12;  ///< core to L2 and back
  std::uint32_t dispatch_latency =
      11;  ///< command processor to core; the way back is request_latency
};

/// From the device config. Throws UserError for numbers this model has no room for.
CoreParameters core_parameters(const DeviceConfig& config);

}  // namespace fm
