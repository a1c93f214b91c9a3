#pragma once
// Numbers of address translation.

#include <cstdint>

#include "sim/memory/line_request.hpp"

namespace fm {

struct MmuParameters {
  std::uint64_t page_bytes = 4096;
  std::uint32_t core_entries = 64, core_ways = 4;       ///< a core's own TLB
  std::uint32_t core_misses = 8;                        ///< pages a core asks for at a time
  std::uint32_t entries = 1024, ways = 8;               ///< the TLB all cores share
  std::uint32_t request_cycles = 1, answer_cycles = 1;  ///< between a core and the shared TLB
  std::uint32_t walkers = 4;                            ///< page walks under way
  std::uint32_t walk_cache_entries = 32;                ///< entries of upper tables kept
  std::uint32_t levels = 4;      ///< tables of a walk, the first level included
  bool walks_through_l2 = true;  ///< else to the system-level cache and DRAM
};

}  // namespace fm
