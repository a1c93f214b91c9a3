#pragma once
// A core's load/store or texture unit: a pipe with a bounded queue, a first-level cache with MSHRs,
// a way to the L2.

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
  Cycle next_accept() const {
    return next_accept_ > starts_[oldest_] ? next_accept_ : starts_[oldest_];
  }
  /// Accepts at `cycle` an access that takes `cycles` of the pipe; returns when it begins.
  Cycle accept(Cycle cycle, std::uint32_t cycles) {
    const Cycle start = cycle + 1 > free_ ? cycle + 1 : free_;
    starts_[oldest_] = start;
    if (++oldest_ == starts_.size()) oldest_ = 0;
    next_accept_ = cycle + 1;
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
/// (atomics bypass).
struct FirstLevelCounts {
  std::uint64_t accepted_reads = 0, read_hits = 0, read_misses = 0, read_merges = 0;
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
  /// scoreboard entry, closed when all lines are looked up. `planner` keeps the plan's lines.
  void start(const PlannedAccess& access, const LinePlanner& planner, AccessKind kind, bool cached,
             std::uint32_t wave, std::uint32_t load, Cycle cycle);
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
  struct Mshr {
    std::uint32_t line = none;  ///< place in the cache; none: an atomic operation
    std::uint32_t targets = 0, first_target = none;
  };
  struct Target {
    std::uint32_t wave = 0, load = 0, next = none;
  };
  struct Progress {
    PlannedAccess access;
    const LinePlanner* planner = nullptr;
    AccessKind kind = AccessKind::read;
    bool cached = true;
    std::uint32_t wave = 0, load = 0;
    std::uint32_t next_line = 0;
    Cycle next_lookup = 0;
  };

  bool proceed();
  std::uint32_t find(std::uint64_t line_number);
  Block read(std::uint64_t address, std::uint64_t mask);
  Block write(std::uint64_t address, std::uint64_t mask);
  Block write_past(std::uint64_t address, std::uint64_t mask);
  Block write_back(std::uint32_t place, std::uint64_t address, std::uint64_t mask);
  Block atomic(std::uint64_t address, std::uint64_t mask);
  Block take_place(std::uint64_t line_number, std::uint32_t* place);
  void clean(std::uint32_t place, Cycle cycle);
  void fetch(std::uint32_t place, std::uint64_t address, std::uint32_t bytes, std::uint64_t mask,
             AccessKind kind);
  void add_target(Mshr& mshr);
  void send_write(std::uint64_t address, std::uint64_t mask, std::uint32_t line_bytes, Cycle cycle);
  void send_flush(Cycle cycle);
  void fill(std::uint32_t index, Cycle cycle, WaveSet* waves);
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
  std::uint32_t line_shift_;
  std::vector<std::uint64_t> tags_;  ///< line numbers
  std::vector<std::uint32_t> last_use_;
  std::vector<std::uint16_t> mshr_of_;
  std::vector<std::uint64_t> valid_, dirty_;
  std::vector<std::uint32_t> recent_way_;  ///< by set: where the last hit was
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
