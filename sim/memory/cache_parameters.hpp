#pragma once
// Numbers of one cache level below the shader cores (L2, system-level cache).

#include <array>
#include <cstdint>
#include <string>

#include "sim/memory/line_request.hpp"

namespace fm {

struct CacheParameters {
  std::string name;
  std::uint64_t bytes = 0;  ///< of all slices; 0: no cache, everything passes through
  std::uint32_t line_bytes = 64;
  std::uint32_t ways = 16;
  std::uint32_t slices = 1;            ///< each with its own tags, MSHRs and data port
  bool hashed = true;                  ///< slices and banks are chosen by all address bits
  std::uint32_t banks = 1;             ///< a slice's data arrays, which share bytes_per_cycle
  std::uint32_t mshrs = 32;            ///< a slice: lines being fetched
  std::uint32_t targets = 8;           ///< requests that wait for one line, the first included
  std::uint32_t write_buffer = 8;      ///< a slice: writes to the level below not yet acknowledged
  std::uint32_t bytes_per_cycle = 64;  ///< a slice's data port
  std::uint32_t request_bytes_per_cycle = 0;  ///< of written data into a slice; 0: no limit
  Ticks cycle = 1;                            ///< of this level's clock
  Ticks latency = 0;                          ///< from lookup to the answer's first byte
  bool fetch_partial_writes =
      true;  ///< a write of part of a line that misses fetches the line first
  /// Writes and atomic operations go to the level below; lines here are never dirty.
  bool write_through = false;
  /// Every request hits, at the hit's latency and without any limit of bandwidth.
  bool perfect = false;
  Ticks below_line = 0;  ///< a line's time on a slice's bus to the level below, each way
  /// Ways a client may fill; 0: its misses pass through without a line.
  std::array<std::uint32_t, memory_client_count> ways_for{1024, 1024, 1024, 1024,
                                                          1024, 1024, 1024, 1024};
};

/// What happened to requests, by client and kind. accepted = hits + primary_misses + merges +
/// bypasses.
struct CacheCounts {
  using Table = TrafficCounts::Table;
  Table accepted{}, hits{}, primary_misses{}, merges{}, bypasses{};
  std::uint64_t fetches = 0;                ///< lines asked of the level below
  std::uint64_t unfetched_allocations = 0;  ///< write misses that took a line without fetching it
  std::uint64_t fills = 0;
  std::uint64_t clean_evictions = 0, dirty_evictions = 0;
  std::uint64_t partial_evictions = 0;  ///< dirty ones that write only part of the line
  std::uint64_t writes_below = 0;       ///< write-backs and passed-through writes sent down
  std::uint64_t writes_acknowledged = 0;
  std::uint64_t flushed = 0;  ///< lines dropped by cache maintenance
  std::uint64_t retries = 0;  ///< lookups repeated after a stall
  std::uint64_t stall_mshr_ticks = 0, stall_target_ticks = 0, stall_victim_ticks = 0,
                stall_write_buffer_ticks = 0;
  std::uint64_t data_ticks = 0;     ///< the data port was busy
  std::uint64_t request_ticks = 0;  ///< the request port was busy
  std::uint64_t wait_ticks = 0;     ///< sum over requests, from arrival to acceptance
  std::uint64_t bank_conflicts = 0, bank_conflict_ticks = 0;  ///< look-ups whose bank was busy
  std::uint64_t written_bytes = 0;  ///< carried by writes and atomic operations
};

std::uint64_t total(const TrafficCounts::Table& table);
std::uint64_t total(const TrafficCounts::Table& table, AccessKind kind);
std::uint64_t total(const TrafficCounts::Table& table, MemoryClient client);

}  // namespace fm
