// Issue: which wave's step goes when, and what it occupies.

#include <algorithm>

#include "sim/gpu/shader_core.hpp"

namespace fm {
namespace {

std::uint32_t lowest(std::uint64_t set) { return static_cast<std::uint32_t>(__builtin_ctzll(set)); }

}  // namespace

Cycle ShaderCore::accept_cycle(Unit unit) const {
  switch (unit) {
    case Unit::load_store:
      return load_store_.next_accept();
    case Unit::texture:
      return texture_.next_accept();
    default:
      return local_pipe_.next_accept();
  }
}

std::array<Cycle, unit_count> ShaderCore::accept_cycles() const {
  return {load_store_.next_accept(), texture_.next_accept(), local_pipe_.next_accept()};
}

void ShaderCore::note_ready(std::uint32_t index) {
  const EngineWaves& engine = engines_[index];
  const std::uint32_t bit = 1u << index;
  std::uint64_t wanting = 0;
  for (std::size_t unit = 0; unit < unit_count; ++unit) {
    wanting |= engine.wants[unit];
    engines_wanting_[unit] =
        engine.wants[unit] != 0 ? engines_wanting_[unit] | bit : engines_wanting_[unit] & ~bit;
  }
  engines_ready_ = (engine.ready & ~wanting) != 0 ? engines_ready_ | bit : engines_ready_ & ~bit;
}

std::uint32_t ShaderCore::engines_to_try(const std::array<Cycle, unit_count>& accept,
                                         Cycle cycle) const {
  std::uint32_t engines = engines_ready_;
  for (std::size_t unit = 0; unit < unit_count; ++unit) {
    if (accept[unit] <= cycle) engines |= engines_wanting_[unit];
  }
  return engines;
}

void ShaderCore::issue(Cycle cycle) {
  std::array<Cycle, unit_count> accept = accept_cycles();
  std::uint32_t engines = engines_to_try(accept, cycle);
  // Engines take turns at being first, so that none is favoured at the shared units.
  std::uint32_t later = ~0u << first_engine_;
  if (++first_engine_ == parameters_.engines) first_engine_ = 0;
  while (engines != 0) {
    const std::uint32_t turn = (engines & later) != 0 ? engines & later : engines;
    const auto index = static_cast<std::uint32_t>(__builtin_ctz(turn));
    if ((engines & later) == 0) later = ~0u;
    engines &= ~(1u << index);
    EngineWaves& engine = engines_[index];
    if (engine.free > cycle) continue;
    std::uint64_t candidates = engine.ready;
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      if (accept[unit] > cycle) candidates &= ~engine.wants[unit];
    }
    if (candidates == 0) continue;
    issue_step(engine, pick(engine, candidates), cycle);
    note_ready(index);
    accept = accept_cycles();
    engines &= engines_to_try(accept, cycle);
  }
  next_issue_ = earliest_free(engines_ready_, cycle + 1);
  for (std::size_t unit = 0; unit < unit_count; ++unit) {
    if (engines_wanting_[unit] == 0 || accept[unit] == no_cycle) continue;
    next_issue_ = std::min(
        next_issue_, earliest_free(engines_wanting_[unit], std::max(accept[unit], cycle + 1)));
  }
}

Cycle ShaderCore::earliest_free(std::uint32_t engines, Cycle base) const {
  Cycle earliest = no_cycle;
  for (; engines != 0; engines &= engines - 1) {
    const Cycle free = engines_[static_cast<std::size_t>(__builtin_ctz(engines))].free;
    if (free <= base) return base;
    earliest = std::min(earliest, free);
  }
  return earliest;
}

std::uint32_t ShaderCore::pick(const EngineWaves& engine, std::uint64_t candidates) const {
  if (parameters_.oldest_first) return lowest(candidates);
  const std::uint64_t after = candidates & ~((std::uint64_t{2} << engine.last_rank) - 1);
  return lowest(after != 0 ? after : candidates);
}

void ShaderCore::issue_step(EngineWaves& engine, std::uint32_t rank, Cycle cycle) {
  const std::uint64_t bit = EngineWaves::bit(rank);
  settle(engine, cycle);
  engine.ready &= ~bit;
  for (std::uint64_t& wants : engine.wants) wants &= ~bit;
  engine.last_rank = rank;
  const std::uint32_t slot = engine.slot_at(rank);
  Wave& wave = waves_[slot];
  ++counts_.steps;
  if (wave.step->kind == WaveStep::Kind::arithmetic) {
    issue_arithmetic(engine, wave, slot, cycle);
  } else {
    issue_access(engine, wave, slot, cycle);
  }
}

void ShaderCore::issue_arithmetic(EngineWaves& engine, Wave& wave, std::uint32_t slot,
                                  Cycle cycle) {
  const WaveStep& step = *wave.step;
  const auto kind = static_cast<std::size_t>(step.arithmetic);
  const Cycle cycles =
      ceil_div(std::uint64_t{step.count} * parameters_.wave_width, context_->lanes[kind]);
  engine.free = cycle + cycles;
  counts_.busy += cycles;
  counts_.arithmetic_cycles[kind] += cycles;
  counts_.operations[kind] += std::uint64_t{step.count} * step.active_lanes;
  wave.step = &wave.cursor->next();
  prepare(slot, cycle + cycles - 1 + parameters_.arithmetic_latency, cycle);
}

void ShaderCore::issue_access(EngineWaves& engine, Wave& wave, std::uint32_t slot, Cycle cycle) {
  const WaveStep& step = *wave.step;
  LinePlanner& planner = context_->planner;
  const Unit unit = wave.unit;
  const bool write = planner.is_write(step.site), atomic = planner.is_atomic(step.site);
  const PlannedAccess access = planner.plan(step, groups_[wave.group].local_base);
  ++counts_.accesses;
  engine.free = cycle + 1;
  ++counts_.busy;
  if (unit == Unit::local) {
    issue_local(access, write, slot, cycle);
  } else {
    if (planner.is_local(step.site)) ++counts_.cached_local_accesses;
    const AccessKind kind = atomic  ? AccessKind::atomic
                            : write ? AccessKind::write
                                    : AccessKind::read;
    const std::uint32_t load = kind == AccessKind::write ? 0 : scoreboard_.open(slot, unit);
    MemoryUnit& memory = unit == Unit::texture ? texture_ : load_store_;
    memory.start(access, planner, kind, !planner.is_uncached(step.site), slot, load, cycle);
    if (memory.block() != MemoryUnit::Block::none) note_blocks(cycle);
  }
  wave.step = &wave.cursor->next();
  prepare(slot, cycle + 1, cycle);
}

void ShaderCore::issue_local(const PlannedAccess& access, bool write, std::uint32_t slot,
                             Cycle cycle) {
  const Cycle begin = local_pipe_.accept(cycle, access.pipe_cycles);
  ++counts_.local_accesses;
  counts_.local_conflict_cycles += access.pipe_cycles - 1;
  if (write) return;
  const std::uint32_t load = scoreboard_.open(slot, Unit::local);
  scoreboard_.line_known(slot, load, begin + access.pipe_cycles - 1 + parameters_.local.latency);
  scoreboard_.close(slot, load);
}

}  // namespace fm
