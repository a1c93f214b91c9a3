#pragma once
// Numbers of one LPDDR channel. Times in picoseconds; names as in JEDEC JESD209-5.

#include <cstdint>

#include "sim/memory/line_request.hpp"

namespace fm {

struct DramParameters {
  std::uint32_t channels = 4;
  std::uint32_t banks = 16;  ///< a channel
  std::uint32_t bank_groups = 4;
  std::uint32_t row_bytes = 2048;  ///< a bank's page
  std::uint32_t interleave = 256;  ///< neighbouring bytes on one channel
  std::uint32_t burst_bytes = 32;  ///< of one column command
  std::uint32_t queue = 32;        ///< requests the scheduler looks at
  std::uint32_t line_bytes = 64;   ///< largest request
  Ticks burst = 3750;              ///< data bus taken by a burst; column commands are as far apart
  Ticks t_ccd_l = 3750;            ///< the same, within a bank group
  bool first_ready = true;         ///< FR-FCFS, else FCFS
  Ticks t_rcd = 18000, t_rp = 18000, t_ras = 42000;
  Ticks t_cl = 17000, t_cwl = 11000;
  Ticks t_rrd = 5000, t_faw = 20000;
  Ticks t_wr = 34000, t_rtp = 7500;
  Ticks t_wtr = 12000;                     ///< end of write data to read command
  Ticks t_rtw = 4000;                      ///< bus idle between read data and write data
  Ticks t_refi = 3906000, t_rfc = 210000;  ///< all-bank refresh: interval and duration
  Ticks starvation = 1000000;              ///< a request older than this goes first
  Ticks controller = 5000;  ///< front end and PHY, before the scheduler and after the data
};

struct DramCounts {
  TrafficCounts::Table requests{}, bursts{};
  TrafficCounts::Table bytes{};  ///< asked for; bursts x burst_bytes is what the bus moved
  std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  std::uint64_t activations = 0, precharges = 0, refreshes = 0;
  std::uint64_t read_bursts = 0, write_bursts = 0;
  std::uint64_t turnarounds = 0;
  std::uint64_t busy_ticks = 0;    ///< data bus
  std::uint64_t read_latency = 0;  ///< sum over reads of arrival to last data
};

}  // namespace fm
