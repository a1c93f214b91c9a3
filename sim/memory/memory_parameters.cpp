#include "sim/memory/memory_parameters.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

std::uint32_t count(const DeviceConfig& config, const std::string& path) {
  return static_cast<std::uint32_t>(config.count(path));
}
std::uint32_t byte_count(const DeviceConfig& config, const std::string& path) {
  return static_cast<std::uint32_t>(config.bytes(path).count());
}
Ticks ticks(const DeviceConfig& config, const char* path) { return config.time(path).count(); }

Ticks ticks_for(double bytes, double bytes_per_second) {
  return static_cast<Ticks>(std::llround(bytes * 1e12 / bytes_per_second));
}

/// What the config gives alike for every level `name`.
CacheParameters level_parameters(const DeviceConfig& config, const std::string& name, Ticks cycle) {
  CacheParameters level;
  level.name = name;
  level.bytes = config.bytes(name + ".size").count();
  level.line_bytes = byte_count(config, name + ".line");
  level.ways = count(config, name + ".ways");
  level.mshrs = count(config, name + ".mshrs");
  level.targets = count(config, name + ".merges");
  level.cycle = cycle;
  return level;
}

CacheParameters l2_parameters(const DeviceConfig& config, Ticks cycle) {
  CacheParameters l2 = level_parameters(config, "l2", cycle);
  l2.slices = count(config, "l2.slices");
  l2.hashed = config.word("l2.hash") == "xor";
  l2.banks = count(config, "l2.banks");
  l2.write_buffer = count(config, "l2.write_buffer");
  l2.bytes_per_cycle = byte_count(config, "l2.bytes_per_clock");
  l2.request_bytes_per_cycle = byte_count(config, "noc.bytes_per_clock");
  l2.fetch_partial_writes = config.word("l2.partial_writes") == "fetch";
  l2.below_line = ticks_for(l2.line_bytes * static_cast<double>(l2.slices),
                            config.bytes_per_second("slc.bandwidth"));
  return l2;
}

CacheParameters cluster_parameters(const DeviceConfig& config, Ticks cycle) {
  CacheParameters cluster = level_parameters(config, "cluster", cycle);
  cluster.slices = count(config, "cluster.slices");
  cluster.hashed = false;
  cluster.write_buffer = count(config, "cluster.write_buffer");
  cluster.bytes_per_cycle = byte_count(config, "cluster.bytes_per_clock");
  cluster.request_bytes_per_cycle = byte_count(config, "noc.bytes_per_clock");
  cluster.write_through = true;
  // Each slice has a link of its own to the L2.
  const std::uint32_t link = byte_count(config, "noc.bytes_per_clock");
  cluster.below_line = (cluster.line_bytes + link - 1) / link * cycle;
  return cluster;
}

CacheParameters slc_parameters(const DeviceConfig& config, Ticks cycle) {
  CacheParameters slc = level_parameters(config, "slc", cycle);
  slc.slices = count(config, "dram.channels");
  slc.write_buffer = slc.mshrs;
  slc.bytes_per_cycle = slc.line_bytes;
  slc.latency = ticks(config, "slc.latency") / 2;
  slc.fetch_partial_writes = false;
  const auto gpu_ways = static_cast<std::uint32_t>(config.ratio("slc.gpu_share") * slc.ways);
  for (const MemoryClient client : {MemoryClient::load_store, MemoryClient::texture,
                                    MemoryClient::copy_engine, MemoryClient::mmu}) {
    slc.ways_for[static_cast<std::size_t>(client)] = std::max(1u, gpu_ways);
  }
  return slc;
}

DramTiming dram_timing(const DeviceConfig& config, const DramClock& clock) {
  const auto clocks = [&](const char* path) { return clock.clocks(ticks(config, path)); };
  const auto at_least = [&](const char* path) { return std::max(1u, clocks(path)); };
  DramTiming timing;
  timing.burst = count(config, "dram.burst_length") / count(config, "dram.transfers_per_clock");
  timing.cl = count(config, "dram.RL");
  timing.cwl = count(config, "dram.WL");
  timing.rcd = at_least("dram.tRCD");
  timing.rp = at_least("dram.tRP");
  timing.rp_all = at_least("dram.tRPab");
  timing.ras = at_least("dram.tRAS");
  timing.rc = timing.ras + timing.rp;
  timing.rrd_s = at_least("dram.tRRD_S");
  timing.rrd_l = at_least("dram.tRRD_L");
  timing.faw = at_least("dram.tFAW");
  timing.ccd_s = count(config, "dram.tCCD_S");
  timing.ccd_l = count(config, "dram.tCCD_L");
  timing.rtp = at_least("dram.tRTP");
  timing.wr = clocks("dram.tWR");
  timing.wtr_s = clocks("dram.tWTR_S");
  timing.wtr_l = clocks("dram.tWTR_L");
  timing.turnaround = count(config, "dram.turnaround");
  timing.ppd = count(config, "dram.tPPD");
  timing.refi = at_least("dram.tREFI");
  timing.rfc = at_least("dram.tRFCab");
  const std::uint32_t sets = count(config, "dram.refresh_sets");
  timing.refi_bank =
      sets == 0 ? timing.refi : std::max(1u, clock.clocks(ticks(config, "dram.tREFI") / sets));
  timing.rfc_bank = at_least("dram.tRFCpb");
  timing.bank_refresh_to_activate = at_least("dram.tpbR2act");
  timing.aad = count(config, "dram.tAAD");
  timing.wck_sync = config.flag("dram.wck_sync");
  timing.wck_post = count(config, "dram.tWCKPST");
  timing.activate_slots = count(config, "dram.activate_clocks");
  timing.column_slots = count(config, "dram.column_clocks");
  timing.precharge_slots = count(config, "dram.precharge_clocks");
  return timing;
}

void set_dram_policies(const DeviceConfig& config, const DramClock& clock, DramParameters* dram) {
  dram->mapping = config.word("dram.mapping");
  dram->hash = config.word("dram.hash");
  dram->read_queue = count(config, "dram.queue_depth");
  dram->write_queue = count(config, "dram.write_queue_depth");
  const auto writes = [&](const char* share) {
    return static_cast<std::uint32_t>(std::ceil(config.ratio(share) * dram->write_queue));
  };
  dram->write_high = std::max(1u, writes("dram.write_high"));
  dram->write_low = std::clamp(writes("dram.write_low"), 1u, dram->write_high) - 1;
  dram->first_ready = config.word("dram.scheduler") == "fr_fcfs";
  dram->row_hit_limit = count(config, "dram.row_hit_limit");
  const std::string& page = config.word("dram.page_policy");
  dram->page_policy = page == "open"     ? DramPagePolicy::open
                      : page == "closed" ? DramPagePolicy::closed
                                         : DramPagePolicy::timeout;
  dram->page_timeout = clock.clocks(ticks(config, "dram.page_timeout"));
  const std::string& refresh = config.word("dram.refresh");
  dram->refresh = refresh == "all_bank"   ? DramRefresh::all_bank
                  : refresh == "per_bank" ? DramRefresh::per_bank
                                          : DramRefresh::none;
  dram->refresh_sets = std::max(1u, count(config, "dram.refresh_sets"));
  dram->starvation = clock.clocks(ticks(config, "dram.max_wait"));
  dram->controller = ticks(config, "dram.controller_latency");
}

MmuParameters mmu_parameters(const DeviceConfig& config) {
  MmuParameters mmu;
  mmu.page_bytes = config.bytes("mmu.page_size").count();
  mmu.core_entries = count(config, "mmu.core_tlb_entries");
  mmu.core_ways = count(config, "mmu.core_tlb_ways");
  mmu.core_misses = count(config, "mmu.core_misses");
  mmu.entries = count(config, "mmu.tlb_entries");
  mmu.ways = count(config, "mmu.tlb_ways");
  const auto latency = static_cast<std::uint32_t>(config.cycles("mmu.tlb_latency").count());
  mmu.request_cycles = latency / 2;
  mmu.answer_cycles = latency - latency / 2;
  mmu.walkers = count(config, "mmu.walkers");
  mmu.walk_cache_entries = count(config, "mmu.walk_cache_entries");
  mmu.levels = count(config, "mmu.table_levels");
  mmu.walks_through_l2 = config.word("mmu.walk_path") == "l2";
  return mmu;
}

}  // namespace

DramParameters dram_parameters(const DeviceConfig& config) {
  DramParameters dram;
  dram.channels = count(config, "dram.channels");
  dram.banks = count(config, "dram.banks");
  dram.bank_groups = count(config, "dram.bank_groups");
  dram.rows = count(config, "dram.rows");
  dram.row_bytes = byte_count(config, "dram.row_size");
  dram.interleave = byte_count(config, "dram.interleave");
  dram.burst_bytes = static_cast<std::uint32_t>(dram_burst(config).count());
  dram.line_bytes = byte_count(config, "slc.line");
  dram.clock = config.hertz("dram.data_rate") / count(config, "dram.transfers_per_clock");
  const DramClock clock(dram.clock);
  dram.timing = dram_timing(config, clock);
  set_dram_policies(config, clock, &dram);
  return dram;
}

MemoryParameters memory_parameters(const DeviceConfig& config) {
  MemoryParameters memory;
  memory.clock.period = static_cast<Ticks>(std::llround(1e12 / config.hertz("gpu.clock")));
  const auto noc = static_cast<std::uint32_t>(config.cycles("noc.latency").count());
  const auto l2 = static_cast<std::uint32_t>(config.cycles("l2.latency").count());
  const auto cluster = static_cast<std::uint32_t>(config.cycles("cluster.latency").count());
  memory.cores = count(config, "gpu.cores");
  memory.cluster_cores = count(config, "cluster.cores");
  memory.cluster = cluster_parameters(config, memory.clock.period);
  memory.l2_request_cycles = memory.request_cycles = noc + l2 / 2;
  memory.l2_answer_cycles = memory.answer_cycles = noc + (l2 - l2 / 2);
  if (memory.cluster.bytes != 0) {
    memory.request_cycles = cluster / 2;
    memory.answer_cycles = cluster - cluster / 2;
  }
  memory.l2 = l2_parameters(config, memory.clock.period);
  memory.slc = slc_parameters(config, memory.clock.period);
  memory.dram = dram_parameters(config);
  memory.mmu = mmu_parameters(config);
  memory.l2_to_slc = std::max<Ticks>(1, ticks(config, "slc.latency") / 4);
  memory.slc_to_dram = memory.request_cycles * memory.clock.period;
  memory.port_lines = count(config, "noc.port_lines");
  const std::uint32_t hop =
      std::min({memory.request_cycles, memory.l2_request_cycles, memory.mmu.request_cycles});
  memory.clock.lookahead = std::min(hop * memory.clock.period, memory.l2_to_slc);
  memory.clock.core_link =
      std::min(memory.request_cycles, memory.mmu.request_cycles) * memory.clock.period;
  return memory;
}

}  // namespace fm
