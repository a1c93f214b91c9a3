// Issue: which wave's step goes when, and what it occupies.

#include <algorithm>
#include <utility>

#include "sim/gpu/shader_core.hpp"

namespace fm {
namespace {

std::uint32_t lowest(std::uint64_t set) { return static_cast<std::uint32_t>(__builtin_ctzll(set)); }

}  // namespace

void ShaderCore::note_taken(std::uint32_t index) {
  const EngineWaves& engine = engines_[index];
  const std::uint32_t others = ~(1u << index);
  std::uint64_t wanting = 0;
  for (std::size_t unit = 0; unit < unit_count; ++unit) {
    wanting |= engine.wants[unit];
    if (engine.wants[unit] == 0) engines_wanting_[unit] &= others;
  }
  if ((engine.ready & ~wanting) == 0) engines_ready_ &= others;
}

std::uint32_t ShaderCore::engines_to_try(Cycle cycle) const {
  std::uint32_t engines = engines_ready_;
  for (std::size_t unit = 0; unit < unit_count; ++unit) {
    if (accept_[unit] <= cycle) engines |= engines_wanting_[unit];
  }
  return engines;
}

void ShaderCore::issue(Cycle cycle) {
  std::uint32_t engines = engines_to_try(cycle);
  // Engines take turns at being first, so that none is favoured at the shared units.
  std::uint32_t later = ~0u << first_engine_;
  if (++first_engine_ == parameters_.engines) first_engine_ = 0;
  while (engines != 0) {
    const std::uint32_t turn = (engines & later) != 0 ? engines & later : engines;
    const auto index = static_cast<std::uint32_t>(__builtin_ctz(turn));
    if ((engines & later) == 0) later = ~0u;
    engines &= ~(1u << index);
    if (engine_free_[index] > cycle) continue;
    const EngineWaves& engine = engines_[index];
    std::uint64_t candidates = engine.ready;
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      if (accept_[unit] > cycle) candidates &= ~engine.wants[unit];
    }
    if (candidates == 0) continue;
    issue_step(index, pick(engine, candidates), cycle);
    engines &= engines_to_try(cycle);
  }
  next_issue_ = earliest_free(engines_ready_, cycle + 1);
  for (std::size_t unit = 0; unit < unit_count; ++unit) {
    if (engines_wanting_[unit] == 0 || accept_[unit] == no_cycle) continue;
    next_issue_ = std::min(
        next_issue_, earliest_free(engines_wanting_[unit], std::max(accept_[unit], cycle + 1)));
  }
}

Cycle ShaderCore::earliest_free(std::uint32_t engines, Cycle base) const {
  Cycle earliest = no_cycle;
  for (; engines != 0; engines &= engines - 1) {
    const Cycle free = engine_free_[static_cast<std::size_t>(__builtin_ctz(engines))];
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

void ShaderCore::issue_step(std::uint32_t index, std::uint32_t rank, Cycle cycle) {
  const std::uint64_t bit = EngineWaves::bit(rank);
  settle(index, cycle);
  EngineWaves& engine = engines_[index];
  engine.ready &= ~bit;
  for (std::uint64_t& wants : engine.wants) wants &= ~bit;
  engine.last_rank = rank;
  note_taken(index);
  const std::uint32_t slot = engine.slot_at(rank);
  Wave& wave = waves_[slot];
  ++counts_.steps;
  if (wave.kind == WaveStep::Kind::arithmetic) {
    issue_arithmetic(wave, slot, cycle);
  } else {
    issue_access(wave, slot, cycle);
  }
}

Cycle ShaderCore::start_cycles(Wave* wave) const {
  if (!std::exchange(wave->fresh, false)) return 0;
  const std::uint32_t lanes = parameters_.skips_inactive_lanes ? wave->step->active_lanes : 1;
  return Cycle{parameters_.work_item_start} * lanes;
}

void ShaderCore::issue_arithmetic(Wave& wave, std::uint32_t slot, Cycle cycle) {
  const WaveStep& step = *wave.step;
  const auto kind = static_cast<std::size_t>(step.arithmetic);
  const Divider& lanes = context_->lanes[kind];
  const std::uint32_t width =
      parameters_.skips_inactive_lanes ? step.active_lanes : parameters_.wave_width;
  const Cycle cycles =
      lanes.quotient(std::uint64_t{step.count} * width * lane_parts + lanes.divisor() - 1);
  const Cycle begin = cycle + start_cycles(&wave);
  engine_free_[wave.engine] = begin + cycles;
  counts_.busy += begin - cycle + cycles;
  counts_.arithmetic_cycles[kind] += cycles;
  count_lanes(step);
  counts_.operations[kind] += static_cast<std::uint64_t>(step.count) * step.active_lanes;
  take_step(wave);
  prepare(slot, begin + cycles - 1 + parameters_.arithmetic_latency, cycle);
}

void ShaderCore::issue_access(Wave& wave, std::uint32_t slot, Cycle cycle) {
  const WaveStep& step = *wave.step;
  const SiteTraits traits = context_->planner.traits(step.site);
  const PlannedAccess access = context_->planner.plan(step, groups_[wave.group].local_base);
  ++counts_.accesses;
  count_lanes(step);
  const Cycle end = cycle + start_cycles(&wave) + 1;
  engine_free_[wave.engine] = end;
  counts_.busy += end - cycle;
  if (traits.unit == Unit::local) {
    issue_local(access, traits.kind == AccessKind::write, slot, cycle);
  } else {
    if (traits.local) ++counts_.cached_local_accesses;
    const std::uint32_t load =
        traits.kind == AccessKind::write ? 0 : scoreboard_.open(slot, traits.unit);
    MemoryUnit& memory = traits.unit == Unit::texture ? texture_ : load_store_;
    memory.start(access, traits, slot, load, cycle);
    accept_[static_cast<std::size_t>(traits.unit)] = memory.next_accept();
    if (memory.block() != MemoryUnit::Block::none) note_blocks(cycle);
  }
  take_step(wave);
  prepare(slot, end, cycle);
}

void ShaderCore::issue_local(const PlannedAccess& access, bool write, std::uint32_t slot,
                             Cycle cycle) {
  const Cycle begin = local_pipe_.accept(cycle, access.pipe_cycles);
  accept_[static_cast<std::size_t>(Unit::local)] = local_pipe_.next_accept();
  ++counts_.local_accesses;
  counts_.local_conflict_cycles += access.pipe_cycles - 1;
  if (write) return;
  const std::uint32_t load = scoreboard_.open(slot, Unit::local);
  scoreboard_.line_known(slot, load, begin + access.pipe_cycles - 1 + parameters_.local.latency);
  scoreboard_.close(slot, load);
}

}  // namespace fm
