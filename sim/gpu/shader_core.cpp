#include "sim/gpu/shader_core.hpp"

#include <algorithm>

namespace fm {
namespace {

// Local memory that is backed by the load/store cache lies where no object does.
constexpr std::uint64_t local_memory_base = std::uint64_t{1} << 44;
constexpr std::uint64_t local_memory_stride = std::uint64_t{1} << 24;

StallCause waiting_cause(Unit unit) {
  return unit == Unit::texture ? StallCause::texture
         : unit == Unit::local ? StallCause::local
                               : StallCause::load;
}

}  // namespace

// SystemC's modules take their names by value.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
ShaderCore::ShaderCore(sc_core::sc_module_name name, const Clock& clock,
                       const CoreParameters& parameters, std::uint32_t index, MemoryLevel* l2,
                       Mmu* mmu, Outlet* outlet)
    : Block(name, clock, BlockWindow::around),
      parameters_(parameters),
      index_(index),
      outlet_(outlet),
      engines_(parameters.engines),
      waves_(parameters.waves),
      link_(clock, l2, this, parameters.request_latency, parameters.answer_latency,
            parameters.link_bytes_per_cycle),
      translation_(clock, mmu, this, &link_),
      scoreboard_(parameters.waves, parameters.outstanding_loads),
      load_store_(Unit::load_store, parameters.load_store, MemoryClient::load_store, &link_,
                  &translation_, &scoreboard_),
      texture_(Unit::texture, parameters.texture, MemoryClient::texture, &link_, &translation_,
               &scoreboard_),
      local_pipe_(parameters.local.queue) {}

ShaderCore::~ShaderCore() = default;

void ShaderCore::begin_launch(LaunchContext* context, Cycle start) {
  context_ = context;
  cycle_ = launch_start_ = waves_settled_ = start;
  settled_.fill(start);
  const std::uint32_t slots = context->groups_per_core * context->waves_per_group;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    waves_[slot].cursor.emplace(*context->program, *context->patterns);
  }
  free_waves_ = WaveSet::first(slots);
  groups_.assign(context->groups_per_core, Group{});
  free_groups_ = WaveSet::first(context->groups_per_core);
  const std::uint64_t stride = round_up(context->local_bytes, 256);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].local_base = local_memory_base + index_ * local_memory_stride + i * stride;
  }
}

void ShaderCore::end_launch(Cycle end) {
  settle_all(end);
  settle_waves(end);
  counts_.active_cycles += end - launch_start_;
  counts_.slot_cycles += (end - launch_start_) * parameters_.engines;
  context_ = nullptr;
  flushing_ = false;
}

void ShaderCore::assign(std::uint64_t group, Ticks time) {
  messages_.push({time, false, group});
  update_next_message();
  wake_by(time);
}

void ShaderCore::flush(Ticks time) {
  messages_.push({time, true, 0});
  update_next_message();
  wake_by(time);
}

void ShaderCore::answer(const LineAnswer& answer) {
  const bool first = answers_.empty() || answer.time < answers_.front().time;
  answers_.push(answer);
  if (!first) return;
  update_next_message();
  wake_by(answer.time);
}

Ticks ShaderCore::advance(Ticks, Ticks end) {
  const Cycle end_cycle = clock().cycle_from(end);
  while (true) {
    const Cycle cycle = next_cycle();
    if (cycle == no_cycle) return never;
    if (cycle >= end_cycle) return clock().at(cycle);
    run_cycle(cycle);
  }
}

void ShaderCore::update_next_message() {
  next_message_ = no_cycle;
  if (!answers_.empty()) next_message_ = clock().cycle_from(answers_.front().time);
  if (!messages_.empty()) {
    next_message_ = std::min(next_message_, clock().cycle_from(messages_.front().time));
  }
}

void ShaderCore::run_cycle(Cycle cycle) {
  cycle_ = cycle;
  if (next_message_ <= cycle) {
    take_answers(cycle);
    take_messages(cycle);
    update_next_message();
  }
  for (WaveSet waves = wheel_.take(cycle); !waves.empty();) wake(waves.take_lowest(), cycle);
  issue(cycle);
  if (flushing_) check_flushed(cycle);
}

void ShaderCore::take_answers(Cycle cycle) {
  const Ticks time = clock().at(cycle);
  while (!answers_.empty() && answers_.front().time <= time) {
    const std::uint32_t tag = answers_.front().tag;
    answers_.pop();
    if (!answers_.empty()) prefetch_answer(answers_.front().tag);
    if (tag >> unit_tag_shift == translation_unit) {
      translation_.answer(tag, cycle);
      continue;
    }
    MemoryUnit& unit = unit_of(tag);
    WaveSet known = unit.answer(tag, cycle);
    accept_[static_cast<std::size_t>(unit.unit())] = unit.next_accept();
    while (!known.empty()) {
      const std::uint32_t slot = known.take_lowest();
      if (!waiting_load_.has(slot)) continue;
      waiting_load_.remove(slot);
      prepare(slot, waves_[slot].earliest, cycle);
    }
    note_blocks(cycle);
  }
}

void ShaderCore::take_messages(Cycle cycle) {
  const Ticks time = clock().at(cycle);
  while (!messages_.empty() && messages_.front().time <= time) {
    const Message message = messages_.front();
    messages_.pop();
    if (!message.flush) {
      start_group(message.group, cycle);
      continue;
    }
    settle_all(cycle);
    flushing_ = true;
    load_store_.flush(cycle);
    texture_.flush(cycle);
  }
}

void ShaderCore::start_group(std::uint64_t linear_group, Cycle cycle) {
  const std::uint32_t group_slot = free_groups_.take_lowest();
  Group& group = groups_[group_slot];
  group.waves = context_->waves_per_group;
  group.at_barrier = {};
  ++counts_.groups;
  settle_waves(cycle);
  for (std::uint32_t i = 0; i < context_->waves_per_group; ++i) {
    const std::uint32_t slot = free_waves_.take_lowest();
    Wave& wave = waves_[slot];
    wave.group = static_cast<std::uint16_t>(group_slot);
    wave.fresh = true;
    wave.engine = static_cast<std::uint16_t>(least_loaded_engine());
    settle(wave.engine, cycle);
    rank_of_[slot] = static_cast<std::uint8_t>(engines_[wave.engine].append(slot));
    ++resident_waves_;
    scoreboard_.start_wave(slot);
    wave.cursor->start(linear_group, i);
    take_step(wave);
    ++counts_.waves;
    prepare(slot, cycle + 1 + Cycle{i} * parameters_.wave_start, cycle);
  }
}

std::uint32_t ShaderCore::least_loaded_engine() {
  std::uint32_t best = next_engine_;
  for (std::uint32_t i = 1; i < parameters_.engines; ++i) {
    const std::uint32_t other = (next_engine_ + i) % parameters_.engines;
    if (engines_[other].count() < engines_[best].count()) best = other;
  }
  next_engine_ = (best + 1) % parameters_.engines;
  return best;
}

std::uint32_t ShaderCore::loads_allowed(const WaveStep& step) const {
  switch (step.kind) {
    case WaveStep::Kind::access: {
      return context_->planner.traits(step.site).kind == AccessKind::write
                 ? maximum_outstanding
                 : parameters_.outstanding_loads - 1;
    }
    case WaveStep::Kind::arithmetic:
      return step.loads_in_flight;
    default:
      return 0;
  }
}

void ShaderCore::take_step(Wave& wave) {
  const WaveStep& step = wave.cursor->next();
  wave.step = &step;
  wave.kind = step.kind;
  wave.empty = step.kind == WaveStep::Kind::arithmetic && step.count == 0;
  wave.loads_allowed = loads_allowed(step);
  if (step.kind == WaveStep::Kind::access) wave.unit = context_->planner.traits(step.site).unit;
}

void ShaderCore::prepare(std::uint32_t slot, Cycle earliest, Cycle now) {
  Wave& wave = waves_[slot];
  settle_if_oldest(slot, now);
  wave.cause = StallCause::arithmetic;
  wave.ready_at = no_cycle;
  while (true) {
    const Cycle loaded = scoreboard_.wait(slot, wave.loads_allowed);
    if (loaded > earliest) wave.cause = waiting_cause(scoreboard_.waited_unit(slot));
    if (loaded == no_cycle) {
      wave.earliest = earliest;
      waiting_load_.add(slot);
      return;
    }
    earliest = std::max(earliest, loaded);
    if (!wave.empty) break;
    ++counts_.steps;
    take_step(wave);
  }
  Cycle wake = std::max(earliest, now + 1);
  if (wave.kind == WaveStep::Kind::access || wave.kind == WaveStep::Kind::arithmetic) {
    wave.ready_at = wake;
    // Nothing can happen to it before its engine is free and its unit takes another access.
    wake = std::max(wake, engine_free_[wave.engine]);
    if (wave.kind == WaveStep::Kind::access) {
      const Cycle accept = accept_[static_cast<std::size_t>(wave.unit)];
      if (accept != no_cycle) wake = std::max(wake, accept);
    }
  }
  wheel_.insert(slot, wake, now);
}

void ShaderCore::wake(std::uint32_t slot, Cycle cycle) {
  const Wave& wave = waves_[slot];
  EngineWaves& engine = engines_[wave.engine];
  const std::uint64_t bit = EngineWaves::bit(rank_of_[slot]);
  switch (wave.kind) {
    case WaveStep::Kind::access:
      wave.cursor->prefetch();
      engine.wants[static_cast<std::size_t>(wave.unit)] |= bit;
      engine.ready |= bit;
      engines_wanting_[static_cast<std::size_t>(wave.unit)] |= 1u << wave.engine;
      break;
    case WaveStep::Kind::arithmetic:
      wave.cursor->prefetch();
      engine.ready |= bit;
      engines_ready_ |= 1u << wave.engine;
      break;
    case WaveStep::Kind::barrier:
      arrive(slot, cycle);
      break;
    case WaveStep::Kind::end:
      retire(slot, cycle);
      break;
  }
}

void ShaderCore::arrive(std::uint32_t slot, Cycle cycle) {
  settle_if_oldest(slot, cycle);
  Group& group = groups_[waves_[slot].group];
  group.at_barrier.add(slot);
  waves_[slot].cause = StallCause::barrier;
  ++counts_.steps;
  release_barrier(group, cycle);
}

void ShaderCore::release_barrier(Group& group, Cycle cycle) {
  if (group.waves == 0 || group.at_barrier.size() != group.waves) return;
  ++counts_.barriers;
  WaveSet released = group.at_barrier;
  group.at_barrier = {};
  while (!released.empty()) {
    const std::uint32_t slot = released.take_lowest();
    take_step(waves_[slot]);
    prepare(slot, cycle + parameters_.barrier_latency, cycle);
  }
}

void ShaderCore::retire(std::uint32_t slot, Cycle cycle) {
  const std::uint32_t group_slot = waves_[slot].group;
  Group& group = groups_[group_slot];
  settle_waves(cycle);
  settle(waves_[slot].engine, cycle);
  engines_[waves_[slot].engine].remove(rank_of_[slot], &rank_of_);
  --resident_waves_;
  free_waves_.add(slot);
  if (--group.waves != 0) {
    release_barrier(group, cycle);
    return;
  }
  free_groups_.add(group_slot);
  outlet_->group_done(index_, clock().at(cycle + parameters_.request_latency));
}

void ShaderCore::note_blocks(Cycle now) {
  const std::array<MemoryUnit::Block, 2> blocks = {load_store_.block(), texture_.block()};
  if (blocks == blocks_) return;
  settle_all(now);
  blocks_ = blocks;
}

void ShaderCore::attribute(const EngineWaves& engine, Cycle from, Cycle now) {
  const auto add = [&](StallCause cause, Cycle cycles) {
    counts_.stalls[static_cast<std::size_t>(cause)] += cycles;
  };
  if (engine.count() == 0) {
    return add(flushing_ ? StallCause::drain : StallCause::idle, now - from);
  }
  const Wave& oldest = waves_[engine.slot_at(0)];
  const Cycle ready = std::clamp(oldest.ready_at, from, now);
  add(oldest.cause, ready - from);
  // Ready and not issued: its unit does not take it.
  if (ready < now) add(unit_cause(oldest.unit), now - ready);
}

StallCause ShaderCore::unit_cause(Unit unit) const {
  if (unit == Unit::local) return StallCause::local_pipe;
  const bool texture = unit == Unit::texture;
  switch (blocks_[texture ? 1 : 0]) {
    case MemoryUnit::Block::none:
      return texture ? StallCause::texture_pipe : StallCause::load_store_pipe;
    case MemoryUnit::Block::write:
      return StallCause::write_buffer;
    default:
      return StallCause::mshr;
  }
}

void ShaderCore::check_flushed(Cycle cycle) {
  if (!load_store_.drained() || !texture_.drained()) return;
  settle_all(cycle);
  flushing_ = false;
  outlet_->flushed(index_, clock().at(cycle + parameters_.request_latency));
}

bool ShaderCore::idle() const {
  return resident_waves_ == 0 && answers_.empty() && messages_.empty() && load_store_.drained() &&
         texture_.drained();
}

void ShaderCore::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  Wait core;
  core.block = "core " + std::to_string(index_);
  std::array<std::uint32_t, stall_cause_count> waves{};
  for (const EngineWaves& engine : engines_) {
    for (std::uint32_t rank = 0; rank < engine.count(); ++rank) {
      ++waves[static_cast<std::size_t>(waves_[engine.slot_at(rank)].cause)];
    }
  }
  for (std::size_t cause = 0; cause < stall_cause_count; ++cause) {
    if (waves[cause] == 0) continue;
    core.state += (core.state.empty() ? "" : ", ") + std::to_string(waves[cause]) +
                  " waves wait (" + to_string(static_cast<StallCause>(cause)) + ")";
  }
  if (core.state.empty()) core.state = flushing_ ? "cleans its caches" : "no waves";
  std::vector<Wait> units;
  for (const MemoryUnit* unit : {&load_store_, &texture_}) {
    if (!unit->drained()) units.push_back(unit->wait(core.block));
  }
  for (const Wait& unit : units) core.waits_for.push_back(unit.block);
  waits->push_back(core);
  waits->insert(waits->end(), units.begin(), units.end());
}

}  // namespace fm
