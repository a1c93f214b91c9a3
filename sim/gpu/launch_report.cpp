#include "sim/gpu/launch_report.hpp"

#include <algorithm>
#include <utility>

#include "sim/memory/cache_level.hpp"

namespace fm {

std::string bound_of(const Utilisation& utilisation) {
  constexpr double saturated = 0.6;
  if (utilisation.launch > 0.5) return "launch";
  const std::pair<double, const char*> candidates[] = {
      {utilisation.dram, "dram"},       {utilisation.l2, "l2"},
      {utilisation.texture, "texture"}, {utilisation.alu, "alu"},
      {utilisation.local, "local"},     {utilisation.load_store, "load_store"}};
  const auto* busiest =
      std::max_element(std::begin(candidates), std::end(candidates),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  return busiest->first > saturated ? busiest->second : "latency";
}

LaunchAccounts::LaunchAccounts(MemorySystem& memory, CounterRegistry& registry,
                               const std::vector<std::unique_ptr<ShaderCore>>& cores)
    : memory_(memory), registry_(registry), cores_(cores) {}

LaunchAccounts::Totals LaunchAccounts::totals() const {
  Totals sum;
  for (const auto& core : cores_) {
    const CoreCounts& counts = core->counts();
    sum.slots += counts.slot_cycles;
    sum.busy += counts.busy;
    for (std::size_t i = 0; i < stall_cause_count; ++i) sum.stalls[i] += counts.stalls[i];
    for (const std::uint64_t cycles : counts.arithmetic_cycles) sum.arithmetic_cycles += cycles;
    sum.texture_cycles += core->texture().pipe().busy();
    sum.load_store_cycles += core->load_store().pipe().busy();
    sum.local_cycles += core->local_pipe().busy();
    const FirstLevelCounts& lookups = core->load_store().counts();
    sum.load_store_lookups += lookups.accesses;
    sum.local_lookups += counts.cached_local_accesses;
  }
  sum.l2_ticks = memory_.l2().counts().data_ticks;
  sum.dram_bytes = memory_.dram_bytes();
  return sum;
}

Utilisation LaunchAccounts::shares(const Totals& from, const Totals& to, Ticks elapsed) const {
  Utilisation use;
  if (elapsed == 0) return use;
  const auto time = static_cast<double>(elapsed);
  const double cycles =
      time / static_cast<double>(memory_.clock().period_now()) * static_cast<double>(cores_.size());
  const auto part = [](std::uint64_t a, std::uint64_t b) { return static_cast<double>(b - a); };
  use.texture = part(from.texture_cycles, to.texture_cycles) / cycles;
  use.alu = part(from.arithmetic_cycles, to.arithmetic_cycles) /
            (cycles * cores_.front()->parameters().engines);
  const double load_store = part(from.load_store_cycles, to.load_store_cycles) / cycles;
  const bool mostly_local = 2 * part(from.local_lookups, to.local_lookups) >
                            part(from.load_store_lookups, to.load_store_lookups);
  use.local =
      std::max(part(from.local_cycles, to.local_cycles) / cycles, mostly_local ? load_store : 0);
  use.load_store = mostly_local ? 0 : load_store;
  use.l2 = part(from.l2_ticks, to.l2_ticks) / (time * memory_.l2().parameters().slices);
  use.dram =
      part(from.dram_bytes, to.dram_bytes) * 1e12 / (time * memory_.peak_dram_bytes_per_second());
  return use;
}

void LaunchAccounts::begin() {
  begin_ = totals();
  counters_ = registry_.snapshot();
}

void LaunchAccounts::end(Ticks overhead, GpuLaunchReport* report) {
  const Totals end = totals();
  const Ticks elapsed = report->end.count() - report->start.count();
  Utilisation use = shares(begin_, end, elapsed - std::min(elapsed, overhead));
  use.launch = elapsed == 0 ? 0 : static_cast<double>(overhead) / static_cast<double>(elapsed);
  report->bound = bound_of(use);
  const auto slots = static_cast<double>(end.slots - begin_.slots);
  if (slots > 0) {
    report->stalls["busy"] = static_cast<double>(end.busy - begin_.busy) / slots;
    for (std::size_t i = 0; i < stall_cause_count; ++i) {
      report->stalls[to_string(static_cast<StallCause>(i))] =
          static_cast<double>(end.stalls[i] - begin_.stalls[i]) / slots;
    }
  }
  const std::vector<std::uint64_t> counters = registry_.snapshot();
  std::size_t i = 0;
  for (const auto& [name, entry] : registry_.entries()) {
    if (counters[i] != counters_[i]) {
      report->counters[name] = static_cast<double>(counters[i] - counters_[i]);
    }
    ++i;
  }
}

}  // namespace fm
