#include "sim/memory/memory_parameters.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

std::uint32_t count(const DeviceConfig& config, const char* path) {
  return static_cast<std::uint32_t>(config.count(path));
}
std::uint32_t byte_count(const DeviceConfig& config, const char* path) {
  return static_cast<std::uint32_t>(config.bytes(path).count());
}
Ticks ticks(const DeviceConfig& config, const char* path) { return config.time(path).count(); }

Ticks ticks_for(double bytes, double bytes_per_second) {
  return static_cast<Ticks>(std::llround(bytes * 1e12 / bytes_per_second));
}

CacheParameters l2_parameters(const DeviceConfig& config, Ticks cycle) {
  CacheParameters l2;
  l2.name = "l2";
  l2.bytes = config.bytes("l2.size").count();
  l2.line_bytes = byte_count(config, "l2.line");
  l2.ways = count(config, "l2.ways");
  l2.slices = count(config, "l2.slices");
  l2.hashed = config.word("l2.hash") == "xor";
  l2.banks = count(config, "l2.banks");
  l2.mshrs = count(config, "l2.mshrs");
  l2.targets = count(config, "l2.merges");
  l2.write_buffer = count(config, "l2.write_buffer");
  l2.bytes_per_cycle = byte_count(config, "l2.bytes_per_clock");
  l2.request_bytes_per_cycle = byte_count(config, "noc.bytes_per_clock");
  l2.cycle = cycle;
  l2.fetch_partial_writes = config.word("l2.partial_writes") == "fetch";
  l2.below_line = ticks_for(l2.line_bytes * static_cast<double>(l2.slices),
                            config.bytes_per_second("slc.bandwidth"));
  return l2;
}

CacheParameters cluster_parameters(const DeviceConfig& config, Ticks cycle) {
  CacheParameters cluster;
  cluster.name = "cluster";
  cluster.bytes = config.bytes("cluster.size").count();
  cluster.line_bytes = byte_count(config, "cluster.line");
  cluster.ways = count(config, "cluster.ways");
  cluster.slices = count(config, "cluster.slices");
  cluster.hashed = false;
  cluster.mshrs = count(config, "cluster.mshrs");
  cluster.targets = count(config, "cluster.merges");
  cluster.write_buffer = count(config, "cluster.write_buffer");
  cluster.bytes_per_cycle = byte_count(config, "cluster.bytes_per_clock");
  cluster.request_bytes_per_cycle = byte_count(config, "noc.bytes_per_clock");
  cluster.cycle = cycle;
  cluster.write_through = true;
  // Each slice has a link of its own to the L2.
  const std::uint32_t link = byte_count(config, "noc.bytes_per_clock");
  cluster.below_line = (cluster.line_bytes + link - 1) / link * cycle;
  return cluster;
}

CacheParameters slc_parameters(const DeviceConfig& config, Ticks cycle) {
  CacheParameters slc;
  slc.name = "slc";
  slc.bytes = config.bytes("slc.size").count();
  slc.line_bytes = byte_count(config, "slc.line");
  slc.ways = count(config, "slc.ways");
  slc.slices = count(config, "dram.channels");
  slc.mshrs = count(config, "slc.mshrs");
  slc.targets = count(config, "slc.merges");
  slc.write_buffer = slc.mshrs;
  slc.bytes_per_cycle = slc.line_bytes;
  slc.cycle = cycle;
  slc.latency = ticks(config, "slc.latency") / 2;
  slc.fetch_partial_writes = false;
  const auto gpu_ways = static_cast<std::uint32_t>(config.ratio("slc.gpu_share") * slc.ways);
  for (const MemoryClient client : {MemoryClient::load_store, MemoryClient::texture,
                                    MemoryClient::copy_engine, MemoryClient::mmu}) {
    slc.ways_for[static_cast<std::size_t>(client)] = std::max(1u, gpu_ways);
  }
  const std::uint64_t set = std::uint64_t{slc.slices} * slc.ways * slc.line_bytes;
  if (slc.bytes % set != 0) {
    throw UserError("slc.size (" + std::to_string(slc.bytes) +
                    " B) contradicts dram.channels, slc.ways and slc.line: every channel has a "
                    "slice of a whole number of sets");
  }
  return slc;
}

DramParameters dram_parameters(const DeviceConfig& config) {
  DramParameters dram;
  dram.channels = count(config, "dram.channels");
  dram.banks = count(config, "dram.banks");
  dram.bank_groups = count(config, "dram.bank_groups");
  dram.row_bytes = byte_count(config, "dram.row_size");
  dram.interleave = byte_count(config, "dram.interleave");
  dram.burst_bytes =
      count(config, "dram.channel_width_bits") * count(config, "dram.burst_length") / 8;
  dram.queue = count(config, "dram.queue_depth");
  dram.line_bytes = byte_count(config, "slc.line");
  dram.first_ready = config.word("dram.scheduler") == "fr_fcfs";
  dram.burst = ticks_for(static_cast<double>(config.count("dram.burst_length")),
                         config.hertz("dram.data_rate"));
  dram.t_ccd_l = std::max(dram.burst, ticks(config, "dram.tCCD_L"));
  dram.t_rcd = ticks(config, "dram.tRCD");
  dram.t_rp = ticks(config, "dram.tRP");
  dram.t_ras = ticks(config, "dram.tRAS");
  dram.t_cl = ticks(config, "dram.tCL");
  dram.t_cwl = ticks(config, "dram.tCWL");
  dram.t_rrd = ticks(config, "dram.tRRD");
  dram.t_faw = ticks(config, "dram.tFAW");
  dram.t_wr = ticks(config, "dram.tWR");
  dram.t_rtp = ticks(config, "dram.tRTP");
  dram.t_wtr = ticks(config, "dram.tWTR");
  dram.t_rtw = ticks(config, "dram.turnaround");
  dram.t_refi = ticks(config, "dram.tREFI");
  dram.t_rfc = ticks(config, "dram.tRFC");
  dram.starvation = ticks(config, "dram.max_wait");
  dram.controller = ticks(config, "dram.controller_latency");
  if (dram.interleave < dram.line_bytes || dram.row_bytes < dram.line_bytes) {
    throw UserError(
        "slc.line contradicts dram.interleave and dram.row_size: a line must lie in "
        "one row of one channel");
  }
  return dram;
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
