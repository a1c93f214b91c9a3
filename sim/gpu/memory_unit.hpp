#pragma once
// A core's load/store or texture unit: a pipe with a bounded queue, a first-level cache with MSHRs,
// a way to the L2.

#include <algorithm>
#include <boost/align/aligned_allocator.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/gpu/core_link.hpp"
#include "sim/gpu/core_parameters.hpp"
#include "sim/gpu/line_plan.hpp"
#include "sim/gpu/scoreboard.hpp"
#include "sim/gpu/translation.hpp"
#include "sim/gpu/wave_order.hpp"
#include "sim/memory/divider.hpp"
#include "sim/memory/wait_graph.hpp"

namespace fm {

/// Accesses begin one after another; at most `entries` are accepted and not yet begun; one is
/// accepted a cycle.
class PipeQueue {
 public:
  explicit PipeQueue(std::uint32_t entries) : starts_(entries, 0) {}
  /// First cycle at or after which the next access may be accepted.
  Cycle next_accept() const { return next_accept_; }
  /// Accepts at `cycle` an access that takes `cycles` of the pipe; returns when it begins.
  Cycle accept(Cycle cycle, std::uint32_t cycles) {
    const Cycle start = cycle + 1 > free_ ? cycle + 1 : free_;
    starts_[oldest_] = start;
    if (++oldest_ == starts_.size()) oldest_ = 0;
    next_accept_ = std::max(cycle + 1, starts_[oldest_]);
    free_ = start + cycles;
    busy_ += cycles;
    return start;
  }
  /// The access in the pipe is held up until `cycle`.
  void hold(Cycle cycle) { free_ = cycle > free_ ? cycle : free_; }
  const std::uint64_t& busy() const { return busy_; }

 private:
  std::vector<Cycle> starts_;
  std::size_t oldest_ = 0;
  Cycle next_accept_ = 0, free_ = 0;
  std::uint64_t busy_ = 0;
};

/// Line look-ups: accepted = hits + primary_misses + merges + bypasses, for reads and writes
/// (atomics bypass). Pipe cycles are those of full accesses, short ones and atomics.
struct FirstLevelCounts {
  std::uint64_t accepted_reads = 0, read_hits = 0, read_misses = 0, read_merges = 0;
  std::uint64_t read_bypasses = 0;  ///< without a cache
  std::uint64_t full_read_cycles = 0, short_read_cycles = 0;
  std::uint64_t full_write_cycles = 0, short_write_cycles = 0, atomic_cycles = 0;
  std::uint64_t accepted_writes = 0, write_hits = 0, write_allocations = 0, write_bypasses = 0;
  std::uint64_t accepted_atomics = 0;
  std::uint64_t accesses = 0, quads = 0;
  std::uint64_t fetches = 0, fills = 0;
  std::uint64_t writes_below = 0, writes_acknowledged = 0, write_backs = 0;
  std::uint64_t blocked_mshr = 0, blocked_target = 0, blocked_victim = 0,
                blocked_write = 0;  ///< cycles
};

class MemoryUnit {
 public:
  enum class Block : std::uint8_t { none, mshr, target, victim, write };

  MemoryUnit(Unit unit, const UnitParameters& parameters, MemoryClient client, CoreLink* link,
             Translation* translation, Scoreboard* scoreboard);

  /// When the next access may start; `no_cycle` while one is blocked.
  Cycle next_accept() const { return block_ == Block::none ? pipe_.next_accept() : no_cycle; }
  Block block() const { return block_; }
  /// Starts an access of `wave` at `cycle` (>= next_accept()). For reads and atomics `load` is its
  /// scoreboard entry, closed when all lines are looked up.
  void start(const PlannedAccess& access, const SiteTraits& site, std::uint32_t wave,
             std::uint32_t load, Cycle cycle);
  /// Brings what answer() will read into the host's caches.
  void prefetch(std::uint32_t tag) const {
    if ((tag & write_tag) != 0) return;
    const Mshr& mshr = mshrs_[tag & 0xffff];
    if (mshr.line != none) __builtin_prefetch(&lines_[mshr.line]);
    if (mshr.first_target == none) return;
    const Target& target = targets_[mshr.first_target];
    scoreboard_->prefetch(target.wave, target.load);
  }
  /// An answer from the L2. Returns the set of waves of which a load's completion became known.
  WaveSet answer(std::uint32_t tag, Cycle cycle);
  /// Writes dirty lines back and forgets all others; drained() once the L2 has acknowledged
  /// everything.
  void flush(Cycle cycle);
  bool drained() const;
  /// Of a unit of `core` that is not drained.
  Wait wait(const std::string& core) const;

  const FirstLevelCounts& counts() const { return counts_; }
  const PipeQueue& pipe() const { return pipe_; }
  Unit unit() const { return unit_; }
  std::uint32_t line_bytes() const { return parameters_.line_bytes; }

 private:
  static constexpr std::uint16_t no_mshr = 0xffff;
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::uint64_t no_tag = ~std::uint64_t{0};
  /// What a look-up reads; a set of four lies in one line of the host's cache.
  struct Line {
    std::uint64_t tag = no_tag;  ///< line number
    std::uint32_t last_use = 0;
    std::uint16_t mshr = no_mshr;
  };
  using Lines = std::vector<Line, boost::alignment::aligned_allocator<Line, 64>>;
  struct Mshr {
    std::uint32_t line = none;  ///< place in the cache; none: past it
    std::uint32_t targets = 0, first_target = none;
    AccessKind kind = AccessKind::read;
  };
  struct Target {
    std::uint32_t wave = 0, load = 0, next = none;
  };
  struct Progress {
    const PlannedLine *line = nullptr, *end = nullptr;  ///< not looked up yet
    std::uint64_t base = 0;
    AccessKind kind = AccessKind::read;
    bool cached = true;
    std::uint32_t ways = 0;  ///< of a set, that its lines may fill
    std::uint32_t wave = 0, load = 0;
    Cycle next_lookup = 0;
    std::uint32_t lookups = 0;  ///< made in that cycle
  };

  bool proceed();
  std::uint32_t first_of_set(std::uint64_t line_number) const {
    return static_cast<std::uint32_t>(sets_.remainder(line_number)) * ways_;
  }
  std::uint32_t find(std::uint64_t line_number) const {
    const std::uint32_t first = first_of_set(line_number);
    const Line* const set = lines_.data() + first;
    // Which way it is cannot be foretold, so no branch hangs on it.
    if (ways_ == 4) {
      const auto is = [=](std::uint32_t way) -> std::uint32_t {
        return set[way].tag == line_number ? 1 : 0;
      };
      const std::uint32_t ways = is(0) | is(1) << 1 | is(2) << 2 | is(3) << 3;
      return ways == 0 ? none : first + static_cast<std::uint32_t>(__builtin_ctz(ways));
    }
    std::uint32_t found = none;
    for (std::uint32_t way = 0; way < ways_; ++way) {
      found = set[way].tag == line_number ? first + way : found;
    }
    return found;
  }
  Block read_lines();
  Block read_perfectly();
  Block write_lines();
  /// Whether a look-up of these bytes in a line that is present is a hit.
  bool holds(std::uint32_t place, std::uint64_t mask) const {
    return lines_[place].mshr == no_mshr && (!partial_ || (mask & ~valid_[place]) == 0);
  }
  /// `place`: of the line when it is present, `none` else.
  Block read_missing(std::uint32_t place, std::uint64_t address, std::uint64_t mask);
  Block write(std::uint64_t address, std::uint64_t mask);
  Block write_past(std::uint64_t address, std::uint64_t mask);
  Block write_back(std::uint32_t place, std::uint64_t address, std::uint64_t mask);
  Block atomic(std::uint64_t address, std::uint64_t mask);
  Block take_place(std::uint64_t line_number, std::uint32_t* place);
  bool is_dirty(std::uint32_t place) const { return partial_ && dirty_[place] != 0; }
  void forget(std::uint32_t place);
  void clean(std::uint32_t place, Cycle cycle);
  void fetch(std::uint32_t place, std::uint64_t address, std::uint32_t bytes, std::uint64_t mask,
             AccessKind kind);
  void add_target(Mshr& mshr);
  void send_write(std::uint64_t address, std::uint64_t mask, std::uint32_t line_bytes, Cycle cycle);
  void send_flush(Cycle cycle);
  void fill(std::uint32_t index, Cycle cycle, WaveSet* waves);
  void count_cycles(AccessKind kind, bool full, std::uint32_t cycles);
  void count_block(Cycle cycle);

  const Unit unit_;
  const UnitParameters parameters_;
  const MemoryClient client_;
  CoreLink* link_;
  Translation* translation_;
  Scoreboard* scoreboard_;
  PipeQueue pipe_;
  Divider sets_;
  std::uint32_t ways_;
  std::uint32_t lookups_per_cycle_;
  std::uint32_t line_shift_;
  bool partial_;  ///< lines may hold a part of their bytes: what was written without a fetch
  Lines lines_;
  std::vector<std::uint64_t> valid_, dirty_;  ///< byte masks; only kept when `partial_`
  std::vector<Mshr> mshrs_;
  std::vector<std::uint32_t> free_mshrs_;
  std::vector<Target> targets_;
  std::vector<std::uint32_t> free_targets_;
  std::vector<PlannedLine> own_lines_;  ///< of a blocked access whose plan is not kept
  Progress progress_;
  Block block_ = Block::none;
  Cycle blocked_since_ = 0;
  std::uint32_t uses_ = 0;
  std::uint32_t write_credits_;
  std::vector<std::uint32_t> to_flush_;  ///< places of dirty lines waiting for a credit
  FirstLevelCounts counts_;
};

}  // namespace fm
