#include "sim/gpu/core_accounts.hpp"

#include <string>

namespace fm {
namespace {

const char* const arithmetic_names[arithmetic_kind_count] = {"fma", "add", "special", "convert",
                                                             "integer"};

void register_issue(const CoreCounts& counts, CounterRegistry& registry) {
  registry.add("core.active_cycles", "cycles",
               "Core cycles inside launches, all cores (Arm EXEC_CORE_ACTIVE)",
               &counts.active_cycles);
  registry.add("core.issue_slots", "cycles", "Engines x core cycles inside launches",
               &counts.slot_cycles);
  registry.add("core.busy", "cycles", "Issue slots in which an engine issued or computed",
               &counts.busy);
  for (std::size_t i = 0; i < stall_cause_count; ++i) {
    const auto cause = static_cast<StallCause>(i);
    registry.add("core.stall." + to_string(cause), "cycles", "Issue slots lost: " + describe(cause),
                 &counts.stalls[i]);
  }
  registry.add("core.wave_cycles", "cycles",
               "Resident waves x cycles; over core.active_cycles: occupancy in waves",
               &counts.wave_cycles);
  registry.add("core.groups", "groups", "Work-groups run", &counts.groups);
  registry.add("core.waves", "waves", "Waves run (Arm COMPUTE_WARPS, Adreno SP_WAVE_CONTEXTS)",
               &counts.waves);
  registry.add("core.barriers", "barriers", "Work-group barriers passed", &counts.barriers);
  registry.add("core.steps", "steps", "Accesses, arithmetic nodes and barriers issued by waves",
               &counts.steps);
  registry.add("core.accesses", "accesses", "Memory accesses issued by waves", &counts.accesses);
  registry.add("core.issued", "steps",
               "Accesses and arithmetic nodes issued (over core.lanes_idle: divergence, Arm "
               "EXEC_INSTR_DIVERGED)",
               &counts.issued);
  registry.add("core.lanes_active", "lanes", "Lanes of issued steps that had work",
               &counts.lanes_active);
  registry.add("core.lanes_idle", "lanes",
               "Lanes of issued steps that were paid for without work: divergence and waves not "
               "full",
               &counts.lanes_idle);
  for (std::size_t i = 0; i < arithmetic_kind_count; ++i) {
    const std::string name = arithmetic_names[i];
    registry.add("core.operations." + name, "operations",
                 "Scalar operations of active lanes: " + name +
                     " (Arm EXEC_INSTR_FMA, CVT, SFU count them by wave)",
                 &counts.operations[i]);
    registry.add("core.arithmetic_cycles." + name, "cycles", "Engine cycles taken by " + name,
                 &counts.arithmetic_cycles[i]);
  }
}

void register_local(const ShaderCore& core, CounterRegistry& registry) {
  const CoreCounts& counts = core.counts();
  registry.add("local.accesses", "accesses",
               "Accesses to dedicated local memory (Adreno SP_LM_LOAD/STORE_INSTRUCTIONS)",
               &counts.local_accesses);
  registry.add("local.conflict_cycles", "cycles",
               "Cycles beyond the first of those accesses (Adreno SP_LM_BANK_CONFLICTS)",
               &counts.local_conflict_cycles);
  registry.add("local.cached_accesses", "accesses",
               "Accesses to local memory behind the load/store cache",
               &counts.cached_local_accesses);
  registry.add("local.busy", "cycles", "Dedicated local memory was busy",
               &core.local_pipe().busy());
}

void register_unit(const MemoryUnit& unit, const std::string& prefix, CounterRegistry& registry) {
  const FirstLevelCounts& counts = unit.counts();
  const auto add = [&](const char* name, const char* what, const char* description,
                       const std::uint64_t& cell) {
    registry.add(prefix + name, what, description, &cell);
  };
  add("accesses", "accesses", "Wave accesses begun", counts.accesses);
  add("busy", "cycles", "The unit's pipe was occupied", unit.pipe().busy());
  add("read_lookups", "lines", "Lines read looked up (Adreno TP_L1_CACHELINE_REQUESTS)",
      counts.accepted_reads);
  add("read_hits", "lines", "Lines read that hit", counts.read_hits);
  add("read_misses", "lines", "Lines read that began a fetch (Adreno TP_L1_CACHELINE_MISSES)",
      counts.read_misses);
  add("read_merges", "lines", "Lines read that joined a fetch under way", counts.read_merges);
  add("fetches", "lines", "Lines asked of the L2", counts.fetches);
  add("blocked_mshr", "cycles", "The unit stood still: no MSHR free", counts.blocked_mshr);
  add("blocked_target", "cycles", "The unit stood still: a merge list was full",
      counts.blocked_target);
  add("blocked_victim", "cycles", "The unit stood still: every way was being fetched",
      counts.blocked_victim);
  if (unit.unit() == Unit::texture) {
    add("quads", "quads", "Groups of four lanes sampled (Arm TEX_MSGO_NUM_MSG x 2)", counts.quads);
    return;
  }
  add("read_bypasses", "lines", "Lines read from the L2 for want of a cache", counts.read_bypasses);
  add("full_read_cycles", "cycles",
      "Of busy: reads that used all of the datapath (Arm LS_MEM_READ_FULL)",
      counts.full_read_cycles);
  add("short_read_cycles", "cycles", "Of busy: other reads (Arm LS_MEM_READ_SHORT)",
      counts.short_read_cycles);
  add("full_write_cycles", "cycles",
      "Of busy: writes that used all of the datapath (Arm LS_MEM_WRITE_FULL)",
      counts.full_write_cycles);
  add("short_write_cycles", "cycles", "Of busy: other writes (Arm LS_MEM_WRITE_SHORT)",
      counts.short_write_cycles);
  add("atomic_cycles", "cycles", "Of busy: atomic operations (Arm LS_MEM_ATOMIC)",
      counts.atomic_cycles);
  add("write_lookups", "lines", "Lines written looked up", counts.accepted_writes);
  add("write_hits", "lines", "Lines written that were present", counts.write_hits);
  add("write_allocations", "lines", "Lines written that took a place", counts.write_allocations);
  add("write_bypasses", "lines", "Lines written past the cache to the L2", counts.write_bypasses);
  add("atomics", "lines", "Lines of atomic operations (Arm LS_MEM_ATOMIC)",
      counts.accepted_atomics);
  add("writes_below", "lines", "Line writes to the L2 (Arm BEATS_WR_LSC_WB, _OTHER)",
      counts.writes_below);
  add("write_backs", "lines", "Of them, dirty lines", counts.write_backs);
  add("blocked_write", "cycles", "The unit stood still: too many writes unacknowledged",
      counts.blocked_write);
}

void check(std::vector<ResultCheck>* checks, const std::string& law, std::uint64_t left,
           std::uint64_t right) {
  checks->push_back({law, static_cast<double>(left), static_cast<double>(right)});
}

void add_up(FirstLevelCounts* sum, const FirstLevelCounts& one) {
  sum->accepted_reads += one.accepted_reads;
  sum->read_hits += one.read_hits;
  sum->read_misses += one.read_misses;
  sum->read_merges += one.read_merges;
  sum->read_bypasses += one.read_bypasses;
  sum->full_read_cycles += one.full_read_cycles;
  sum->short_read_cycles += one.short_read_cycles;
  sum->full_write_cycles += one.full_write_cycles;
  sum->short_write_cycles += one.short_write_cycles;
  sum->atomic_cycles += one.atomic_cycles;
  sum->accepted_writes += one.accepted_writes;
  sum->write_hits += one.write_hits;
  sum->write_allocations += one.write_allocations;
  sum->write_bypasses += one.write_bypasses;
  sum->accepted_atomics += one.accepted_atomics;
  sum->fetches += one.fetches;
  sum->fills += one.fills;
  sum->writes_below += one.writes_below;
  sum->writes_acknowledged += one.writes_acknowledged;
}

void check_unit(const std::string& name, const FirstLevelCounts& sum, std::uint64_t busy,
                std::vector<ResultCheck>* checks) {
  check(checks, name + ": reads accepted = hits + primary misses + merges + bypasses",
        sum.accepted_reads, sum.read_hits + sum.read_misses + sum.read_merges + sum.read_bypasses);
  check(checks, name + ": fetches = primary misses + bypasses + atomics", sum.fetches,
        sum.read_misses + sum.read_bypasses + sum.accepted_atomics);
  check(checks, name + ": busy = full + short + atomic cycles", busy,
        sum.full_read_cycles + sum.short_read_cycles + sum.full_write_cycles +
            sum.short_write_cycles + sum.atomic_cycles);
  check(checks, name + ": fetches = fills", sum.fetches, sum.fills);
  check(checks, name + ": writes accepted = hits + allocations + bypasses", sum.accepted_writes,
        sum.write_hits + sum.write_allocations + sum.write_bypasses);
  check(checks, name + ": writes sent = writes acknowledged", sum.writes_below,
        sum.writes_acknowledged);
}

}  // namespace

void register_counters(const ShaderCore& core, CounterRegistry& registry) {
  registry.follow(core.counts());
  registry.follow(core.load_store().counts());
  registry.follow(core.texture().counts());
  registry.follow(core.link().traffic());
  registry.follow(core.translation().answers());
  register_issue(core.counts(), registry);
  register_local(core, registry);
  register_unit(core.load_store(), "load_store.", registry);
  register_unit(core.texture(), "texture.", registry);
  const Translation& translation = core.translation();
  registry.add("tlb.requests", "translations", "Translations asked of the cores' own TLBs",
               &translation.requests());
  registry.add("tlb.hits", "translations", "Of them, held there", &translation.hits());
  registry.add("tlb.merges", "translations", "Of them, pages already asked for",
               &translation.merges());
  registry.add("tlb.misses", "translations", "Of them, pages the MMU was asked for",
               &translation.misses());
  registry.add("tlb.wait", "cycles", "Sum over requests of cores that waited for a translation",
               &translation.wait_cycles());
  registry.add("noc.bytes_in", "bytes",
               "Data from the L2 to cores (Arm BEATS_RD_LSC + BEATS_RD_TEX)",
               &core.link().bytes_in());
  registry.add("noc.bytes_out", "bytes", "Data from cores to the L2", &core.link().bytes_out());
}

void append_core_checks(const std::vector<std::unique_ptr<ShaderCore>>& cores,
                        const TrafficCounts& arrived, const Mmu& mmu,
                        std::vector<ResultCheck>* checks) {
  std::uint64_t slots = 0, used = 0, lanes = 0, lanes_issued = 0;
  std::uint64_t load_store_busy = 0, texture_busy = 0;
  FirstLevelCounts load_store, texture;
  TrafficCounts links;
  std::uint64_t translations = 0, translated = 0, misses = 0, answers = 0;
  for (const auto& core : cores) {
    slots += core->counts().slot_cycles;
    used += core->counts().busy;
    for (const std::uint64_t stall : core->counts().stalls) used += stall;
    lanes += core->counts().lanes_active + core->counts().lanes_idle;
    lanes_issued += core->counts().issued * core->parameters().wave_width;
    load_store_busy += core->load_store().pipe().busy();
    texture_busy += core->texture().pipe().busy();
    add_up(&load_store, core->load_store().counts());
    add_up(&texture, core->texture().counts());
    const Translation& translation = core->translation();
    translations += translation.requests();
    translated += translation.hits() + translation.merges() + translation.misses();
    misses += translation.misses();
    answers += translation.answers();
    for (std::size_t client = 0; client < memory_client_count; ++client) {
      for (std::size_t kind = 0; kind < access_kind_count; ++kind) {
        links.requests[client][kind] += core->link().traffic().requests[client][kind];
        links.answers[client][kind] += core->link().traffic().answers[client][kind];
      }
    }
  }
  check(checks, "cores: issue slots x cycles = busy + idle + stalls", slots, used);
  check(checks, "cores: translations = hits + merges + misses", translations, translated);
  check(checks, "cores: translations = lines sent", translations, total(links.requests));
  check(checks, "cores to mmu: pages asked for = pages asked of it", misses, mmu.counts().requests);
  check(checks, "mmu to cores: pages asked for = answers taken", misses, answers);
  check(checks, "cores: steps issued x wave width = lanes active + lanes idle", lanes_issued,
        lanes);
  check_unit("load/store L1", load_store, load_store_busy, checks);
  check_unit("texture L1", texture, texture_busy, checks);
  for (const MemoryClient client : {MemoryClient::load_store, MemoryClient::texture}) {
    for (std::size_t kind = 0; kind < access_kind_count; ++kind) {
      const std::size_t row = index_of(client);
      const std::string who =
          " (" + to_string(client) + " " + to_string(static_cast<AccessKind>(kind)) + ")";
      check(checks, "cores to shared caches: requests sent = requests arrived" + who,
            links.requests[row][kind], arrived.requests[row][kind]);
      check(checks, "shared caches to cores: answers given = answers taken" + who,
            arrived.answers[row][kind], links.answers[row][kind]);
    }
  }
}

}  // namespace fm
