#pragma once
// Numbers of one DRAM channel. Names as in JEDEC JESD79-4 (DDR4), JESD209-4 (LPDDR4) and JESD209-5
// (LPDDR5).

#include <cstdint>
#include <string>

#include "sim/memory/divider.hpp"
#include "sim/memory/line_request.hpp"

namespace fm {

/// Command clocks of a channel since the beginning.
using DramCycle = std::uint64_t;

/// Edges of the command clock. Its period need not be a whole number of picoseconds.
class DramClock {
 public:
  explicit DramClock(double hertz);
  /// The first edge that does not lie before `time`.
  DramCycle from(Ticks time) const { return by_period_.quotient(time * 1000 + period_fs_ - 1); }
  /// Of an edge, rounded down: from(ticks(edge)) is that edge again.
  Ticks ticks(DramCycle edge) const { return edge * period_fs_ / 1000; }
  /// Clocks a duration takes, by the rounding of JESD79-4: an excess under 2.6 % of a clock is
  /// rounding of the table, not time.
  std::uint32_t clocks(Ticks duration) const;
  Ticks period_fs() const { return period_fs_; }

 private:
  Ticks period_fs_;
  Reciprocal by_period_;
};

/// Distances between commands, in command clocks.
struct DramTiming {
  std::uint32_t burst = 2;               ///< data bus taken by a burst
  std::uint32_t cl = 17, cwl = 9;        ///< column command to first data: RL and WL
  std::uint32_t rcd = 15;                ///< first activate command to column command
  std::uint32_t rp = 15, rp_all = 17;    ///< precharge of a bank, of all banks, to activate
  std::uint32_t ras = 34, rc = 49;       ///< activate to precharge; to activate of that bank
  std::uint32_t rrd_s = 4, rrd_l = 4;    ///< activate to activate: other group, same group
  std::uint32_t faw = 16;                ///< the first and the fifth of five activates
  std::uint32_t ccd_s = 2, ccd_l = 4;    ///< column to column: other group, same group
  std::uint32_t rtp = 8;                 ///< read command to precharge
  std::uint32_t wr = 28;                 ///< end of write data to precharge
  std::uint32_t wtr_s = 5, wtr_l = 10;   ///< end of write data to read: other, same group
  std::uint32_t turnaround = 2;          ///< bus idle between read data and write data
  std::uint32_t ppd = 2;                 ///< precharge to precharge
  std::uint32_t refi = 3125, rfc = 224;  ///< all-bank refresh: interval and duration
  std::uint32_t refi_bank = 391, rfc_bank = 128;  ///< per-bank refresh
  std::uint32_t bank_refresh_to_activate = 6;     ///< tpbR2act: per-bank refresh to another bank
  std::uint32_t aad = 0;       ///< ACT-2 at most so long after ACT-1; 0: one activate command
  std::uint32_t wck_post = 0;  ///< tWCKPST: WCK keeps running so long after the last data
  bool wck_sync = false;       ///< a stopped WCK needs a CAS command before the column command
  std::uint32_t activate_slots = 1, column_slots = 1, precharge_slots = 1;  ///< of the command bus
};

enum class DramPagePolicy : std::uint8_t { open, closed, timeout };
enum class DramRefresh : std::uint8_t { none, all_bank, per_bank };

struct DramParameters {
  std::uint32_t channels = 4;
  std::uint32_t banks = 16;  ///< a channel
  std::uint32_t bank_groups = 4;
  std::uint32_t rows = 65536;                     ///< of a bank
  std::uint32_t row_bytes = 2048;                 ///< a bank's page
  std::uint32_t interleave = 256;                 ///< neighbouring bytes on one channel
  std::uint32_t burst_bytes = 32;                 ///< of one column command
  std::uint32_t line_bytes = 64;                  ///< largest request
  std::string mapping = "row bank column group";  ///< see dram_mapping.hpp
  std::string hash = "row";
  double clock = 800e6;  ///< of commands, Hz
  DramTiming timing;
  std::uint32_t read_queue = 32, write_queue = 32;  ///< requests the scheduler looks at
  std::uint32_t write_high = 26, write_low = 6;     ///< writes waiting: start and end of a drain
  bool first_ready = true;                          ///< FR-FCFS, else in order
  std::uint32_t row_hit_limit = 16;  ///< column commands before a conflict may close the row
  DramPagePolicy page_policy = DramPagePolicy::open;
  std::uint32_t page_timeout = 200;  ///< clocks
  DramRefresh refresh = DramRefresh::all_bank;
  std::uint32_t refresh_sets = 8;  ///< per-bank refreshes that cover all banks once
  std::uint32_t starvation = 800;  ///< a request that waited so many clocks is overtaken no more
  Ticks controller = 5000;         ///< front end and PHY, before the scheduler and after the data
};

struct DramCounts {
  TrafficCounts::Table requests{}, bursts{};
  TrafficCounts::Table bytes{};  ///< asked for; bursts x burst_bytes is what the bus moved
  std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  std::uint64_t forwarded = 0;  ///< reads answered from a waiting write
  std::uint64_t activations = 0, precharges = 0;
  std::uint64_t precharge_alls = 0;  ///< commands; the rows they closed are among precharges
  std::uint64_t refreshes = 0, bank_refreshes = 0;
  std::uint64_t wck_syncs = 0;
  std::uint64_t read_bursts = 0, write_bursts = 0;
  std::uint64_t turnarounds = 0;
  std::uint64_t busy_clocks = 0;      ///< data bus
  std::uint64_t slow_clocks = 0;      ///< of them, what a lower data rate took longer
  std::uint64_t read_latency = 0;     ///< sum over reads of arrival to last data, ps
  std::uint64_t service_latency = 0;  ///< the same from entry into the queue
  std::uint64_t queued_clocks = 0;    ///< sum over requests of entry into the queue to last command
};

enum class DramCommand : std::uint8_t {
  activate,   ///< with two-step activate: ACT-1
  activate2,  ///< ACT-2
  precharge,
  precharge_all,
  read,
  write,
  read_precharge,   ///< with auto-precharge
  write_precharge,  ///< with auto-precharge
  wck_sync,         ///< CAS with WS
  refresh_all,
  refresh_bank
};

/// Hears every command of a channel, in order. For tests and command traces.
class DramObserver {
 public:
  virtual ~DramObserver() = default;
  virtual void command(DramCycle cycle, DramCommand command, std::uint32_t bank,
                       std::uint64_t row) = 0;
};

}  // namespace fm
