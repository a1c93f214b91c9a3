#pragma once
// A shader core: waves, their in-order issue over several engines, arithmetic pipes, load/store,
// texture and local memory units. Plain C++ behind one SC_METHOD; it runs ahead inside the
// lookahead window and skips idle cycles.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/gpu/core_link.hpp"
#include "sim/gpu/launch_context.hpp"
#include "sim/gpu/memory_unit.hpp"
#include "sim/gpu/scoreboard.hpp"
#include "sim/gpu/stall_cause.hpp"
#include "sim/gpu/translation.hpp"
#include "sim/gpu/wake_wheel.hpp"
#include "sim/gpu/wave_order.hpp"
#include "sim/memory/block.hpp"

namespace fm {

struct CoreCounts {
  std::uint64_t slot_cycles = 0;  ///< engines x cycles inside launches
  std::uint64_t busy = 0;         ///< of them, an engine issued or computed
  std::array<std::uint64_t, stall_cause_count> stalls{};
  std::array<std::uint64_t, arithmetic_kind_count> operations{};  ///< scalar, active lanes
  std::array<std::uint64_t, arithmetic_kind_count> arithmetic_cycles{};
  std::uint64_t active_cycles = 0;  ///< inside launches
  std::uint64_t wave_cycles = 0;    ///< resident waves x cycles
  std::uint64_t groups = 0, waves = 0, barriers = 0;
  std::uint64_t steps = 0, accesses = 0;
  std::uint64_t issued = 0;  ///< accesses and arithmetic steps, whatever lanes are active
  std::uint64_t lanes_active = 0, lanes_idle = 0;  ///< of them
  std::uint64_t local_accesses = 0, local_conflict_cycles = 0;
  std::uint64_t cached_local_accesses = 0;  ///< to local memory behind the load/store cache
};

class ShaderCore : public Block, private LineSink {
 public:
  /// Who hears of finished work; times are of arrival there.
  class Outlet {
   public:
    virtual ~Outlet() = default;
    virtual void group_done(std::uint32_t core, Ticks time) = 0;
    virtual void flushed(std::uint32_t core, Ticks time) = 0;
  };

  ShaderCore(sc_core::sc_module_name name, const Clock& clock, const CoreParameters& parameters,
             std::uint32_t index, MemoryLevel* l2, Mmu* mmu, Outlet* outlet);
  ~ShaderCore() override;

  /// The core is idle; its issue slots count from `start` on.
  void begin_launch(LaunchContext* context, Cycle start);
  /// Until `end`.
  void end_launch(Cycle end);
  /// A work-group arrives at `time`.
  void assign(std::uint64_t group, Ticks time);
  /// At `time`, no group left: clean and forget the caches, then say `flushed`.
  void flush(Ticks time);

  const CoreCounts& counts() const { return counts_; }
  const MemoryUnit& load_store() const { return load_store_; }
  const MemoryUnit& texture() const { return texture_; }
  const CoreLink& link() const { return link_; }
  const Translation& translation() const { return translation_; }
  const PipeQueue& local_pipe() const { return local_pipe_; }
  const CoreParameters& parameters() const { return parameters_; }
  bool idle() const;
  void append_waits(std::vector<Wait>* waits) const;

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  /// What waiting hangs on lies in one line of the host's cache; cursor and step are only looked at
  /// when the step is issued.
  struct alignas(64) Wave {
    std::optional<WaveCursor> cursor;
    const WaveStep* step = nullptr;
    Cycle earliest = 0;  ///< for the next step, loads apart
    Cycle ready_at =
        no_cycle;  ///< from when on only an engine or unit is missing; unknown: `no_cycle`
    // Of the step:
    std::uint32_t loads_allowed = 0;  ///< in flight when it is issued
    WaveStep::Kind kind = WaveStep::Kind::end;
    bool empty = false;            ///< nothing to issue
    bool fresh = false;            ///< has issued nothing yet
    Unit unit = Unit::load_store;  ///< of an access
    StallCause cause = StallCause::arithmetic;
    std::uint16_t group = 0;  ///< slot
    std::uint16_t engine = 0;
  };
  struct Group {
    std::uint32_t waves = 0;  ///< alive
    WaveSet at_barrier;
    std::uint64_t local_base = 0;
  };
  struct Message {
    Ticks time = 0;
    bool flush = false;
    std::uint64_t group = 0;
  };
  struct MessageBefore {
    bool operator()(const Message& a, const Message& b) const { return a.time < b.time; }
  };

  void answer(const LineAnswer& answer) override;
  Cycle next_cycle() const { return std::min({next_issue_, wheel_.next(cycle_), next_message_}); }
  MemoryUnit& unit_of(std::uint32_t tag) {
    return (tag >> unit_tag_shift) == static_cast<std::uint32_t>(Unit::texture) ? texture_
                                                                                : load_store_;
  }
  void prefetch_answer(std::uint32_t tag) {
    if (tag >> unit_tag_shift != translation_unit) unit_of(tag).prefetch(tag);
  }
  void update_next_message();
  void run_cycle(Cycle cycle);
  void take_answers(Cycle cycle);
  void take_messages(Cycle cycle);
  void start_group(std::uint64_t group, Cycle cycle);
  std::uint32_t least_loaded_engine();
  void prepare(std::uint32_t slot, Cycle earliest, Cycle now);
  /// The wave's next step.
  void take_step(Wave& wave);
  std::uint32_t loads_allowed(const WaveStep& step) const;
  void wake(std::uint32_t slot, Cycle cycle);
  void arrive(std::uint32_t slot, Cycle cycle);
  void release_barrier(Group& group, Cycle cycle);
  void retire(std::uint32_t slot, Cycle cycle);
  void issue(Cycle cycle);
  std::uint32_t pick(const EngineWaves& engine, std::uint64_t candidates) const;
  void issue_step(std::uint32_t engine, std::uint32_t rank, Cycle cycle);
  /// Of a wave's first step: gpu.work_item_start; then 0.
  Cycle start_cycles(Wave* wave) const;
  void issue_arithmetic(Wave& wave, std::uint32_t slot, Cycle cycle);
  void issue_access(Wave& wave, std::uint32_t slot, Cycle cycle);
  void issue_local(const PlannedAccess& access, bool write, std::uint32_t slot, Cycle cycle);
  /// Keeps the sets of engines below up to date after an engine's ready wave was taken.
  void note_taken(std::uint32_t engine);
  std::uint32_t engines_to_try(Cycle cycle) const;
  /// First cycle >= `base` at which one of a set of engines is free.
  Cycle earliest_free(std::uint32_t engines, Cycle base) const;
  /// Attributes the engine's unused slots up to `now`. To be called before anything changes that
  /// its stall cause depends on: what its oldest wave waits for.
  void settle(std::uint32_t engine, Cycle now) {
    const Cycle from = std::max(settled_[engine], engine_free_[engine]);
    settled_[engine] = now;
    if (from < now) attribute(engines_[engine], from, now);
  }
  void settle_if_oldest(std::uint32_t slot, Cycle now) {
    if (rank_of_[slot] == 0) settle(waves_[slot].engine, now);
  }
  void attribute(const EngineWaves& engine, Cycle from, Cycle now);
  void settle_all(Cycle now) {
    for (std::uint32_t engine = 0; engine < parameters_.engines; ++engine) settle(engine, now);
  }
  void count_lanes(const WaveStep& step) {
    ++counts_.issued;
    counts_.lanes_active += step.active_lanes;
    counts_.lanes_idle += parameters_.wave_width - step.active_lanes;
  }
  void settle_waves(Cycle now) {
    counts_.wave_cycles += (now - waves_settled_) * resident_waves_;
    waves_settled_ = now;
  }
  void note_blocks(Cycle now);
  StallCause unit_cause(Unit unit) const;
  void check_flushed(Cycle cycle);

  const CoreParameters parameters_;
  const std::uint32_t index_;
  Outlet* outlet_;
  LaunchContext* context_ = nullptr;
  // Read every cycle: kept together.
  Cycle cycle_ = 0;  ///< of the last event
  Cycle next_issue_ = no_cycle;
  Cycle next_message_ = no_cycle;           ///< of the first answer or message
  std::array<Cycle, unit_count> accept_{};  ///< when each unit takes another access
  std::uint32_t first_engine_ = 0;          ///< whose turn it is to issue first
  std::uint32_t engines_ready_ = 0;         ///< with a ready wave that needs no unit
  std::array<std::uint32_t, unit_count> engines_wanting_{};  ///< with a ready wave that does
  bool flushing_ = false;
  std::array<Cycle, maximum_engines> engine_free_{};  ///< first cycle the engine is free
  std::array<Cycle, maximum_engines> settled_{};      ///< issue slots before are accounted for
  std::vector<EngineWaves> engines_;
  std::vector<Wave> waves_;
  std::array<std::uint8_t, maximum_waves> rank_of_{};  ///< by slot, on its engine
  CoreCounts counts_;
  CoreLink link_;
  Translation translation_;
  Scoreboard scoreboard_;
  MemoryUnit load_store_, texture_;
  PipeQueue local_pipe_;
  WaveSet waiting_load_;  ///< slots whose loads' completion is not known yet
  AnswerQueue answers_;
  std::vector<Group> groups_;
  WaveSet free_waves_, free_groups_;
  std::uint32_t resident_waves_ = 0;
  std::uint32_t next_engine_ = 0;
  TimedQueue<Message, MessageBefore> messages_;
  Cycle launch_start_ = 0, waves_settled_ = 0;
  /// Why load/store and texture unit stand still, as stall causes know it.
  std::array<MemoryUnit::Block, 2> blocks_{};
  WakeWheel wheel_;
};

}  // namespace fm
