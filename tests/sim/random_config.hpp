#pragma once
// Device configs drawn at random.

#include <algorithm>
#include <random>
#include <string>

#include "core/device_config.hpp"

namespace fm::test {

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}
  std::uint64_t pick(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
  }
  std::string word(std::initializer_list<const char*> words) {
    return *(words.begin() + pick(0, words.size() - 1));
  }
  std::string power(std::uint64_t least_log2, std::uint64_t most_log2) {
    return std::to_string(std::uint64_t{1} << pick(least_log2, most_log2));
  }

 private:
  std::mt19937 random_;
};

/// A valid config far from the devices': tiny caches, few MSHRs, odd latencies.
inline DeviceConfig random_config(Draw& draw) {
  // Read once: parsing takes longer than many a run.
  static const DeviceConfig mali = DeviceConfig::load("mali-g715");
  static const DeviceConfig adreno = DeviceConfig::load("adreno-750");
  DeviceConfig config = draw.pick(0, 1) == 0 ? mali : adreno;
  const auto set = [&](const std::string& path, const std::string& value) {
    config.set(path, value);
  };
  const auto number = [&](const std::string& path, std::uint64_t least, std::uint64_t most,
                          const std::string& unit = "") {
    set(path, std::to_string(draw.pick(least, most)) + unit);
  };
  number("gpu.cores", 1, 4);
  number("gpu.max_outstanding_loads", 1, 20);
  set("gpu.scheduler", draw.word({"oldest_first", "round_robin"}));
  number("gpu.arithmetic_latency", 1, 9, " cycles");
  set("gpu.inactive_lanes", draw.word({"issued", "skipped"}));
  number("gpu.work_item_start", 0, 20, " cycles");
  for (const std::string unit : {"load_store", "texture"}) {
    const std::uint64_t line = 32u << draw.pick(0, 1), ways = draw.pick(1, 4),
                        sets = draw.pick(1, 9);
    set(unit + ".line", std::to_string(line) + " B");
    set(unit + ".ways", std::to_string(ways));
    set(unit + ".cache_size", std::to_string(std::max<std::uint64_t>(256, line * ways * sets) /
                                                 (line * ways) * line * ways +
                                             line * ways * 4) +
                                  " B");
    set(unit + ".bytes_per_clock", draw.power(3, 5) + " B");
    number(unit + ".mshrs", 1, 9);
    number(unit + ".merges", 1, 5);
    number(unit + ".queue", 1, 5);
    number(unit + ".latency", 1, 40, " cycles");
  }
  set("texture.texels_per_clock", draw.word({"0.5", "1", "2"}));
  number("load_store.lanes_per_clock", 1, 16);
  number("load_store.atomic_time", 1, 3, " cycles");
  set("load_store.max_lane_bytes", draw.word({"4 B", "16 B"}));
  set("texture.return_bytes_per_clock", draw.power(4, 7) + " B");
  set("texture.wide_capacity", draw.word({"0.3", "1"}));
  set("load_store.write_policy", draw.word({"write_back", "write_through"}));
  number("load_store.stores_in_flight", 1, 6);
  set("texture.layout", draw.word({"mali_u_interleaved", "adreno_tiled", "linear"}));
  set("texture.image_writes", draw.word({"load_store", "l2"}));
  set("local.kind", draw.word({"cache_backed", "dedicated"}));
  if (config.word("local.kind") == "dedicated" && draw.pick(0, 3) == 0) {
    set("load_store.cache_size", "0 B");
    set("load_store.write_policy", "write_through");
  }
  const std::uint64_t slices = draw.pick(1, 5), ways = draw.pick(1, 4);
  set("l2.slices", std::to_string(slices));
  set("l2.banks", draw.word({"1", "2", "3"}));
  set("l2.hash", draw.word({"none", "xor"}));
  set("l2.ways", std::to_string(ways));
  set("l2.size", std::to_string(4096 * slices * ways) + " B");
  number("l2.mshrs", 1, 9);
  number("l2.merges", 1, 4);
  number("l2.write_buffer", 1, 4);
  number("l2.latency", 1, 30, " cycles");
  set("l2.bytes_per_clock", draw.power(4, 6) + " B");
  set("l2.partial_writes", draw.word({"fetch", "mask"}));
  number("noc.latency", 1, 9, " cycles");
  const std::uint64_t cluster_ways = draw.pick(1, 4);
  const std::uint64_t cluster_sets = draw.pick(0, 9);
  const std::uint64_t cluster_slices = draw.pick(1, 3);
  set("cluster.slices", std::to_string(cluster_slices));
  set("cluster.size", std::to_string(64 * cluster_ways * cluster_sets * cluster_slices) + " B");
  number("cluster.cores", 1, config.count("gpu.cores"));
  set("cluster.ways", std::to_string(cluster_ways));
  number("cluster.latency", 2, 20, " cycles");
  set("cluster.bytes_per_clock", draw.power(4, 7) + " B");
  number("cluster.mshrs", 1, 9);
  number("cluster.merges", 1, 4);
  number("cluster.write_buffer", 1, 4);
  set("noc.bytes_per_clock", draw.power(3, 7) + " B");
  set("slc.bandwidth", "5 GB/s");
  set("host.copy_bandwidth", "1 GB/s");
  set("host.transfer_bandwidth", "1 GB/s");
  number("slc.mshrs", 1, 9);
  set("slc.gpu_share", draw.word({"0.1", "0.5", "1"}));
  const std::uint64_t channels = draw.pick(1, 4);
  set("dram.channels", std::to_string(channels));
  set("slc.size", std::to_string(65536 * channels) + " B");
  number("dram.queue_depth", 1, 9);
  number("dram.write_queue_depth", 1, 9);
  number("dram.row_hit_limit", 1, 40);
  set("dram.page_policy", draw.word({"open", "closed", "timeout"}));
  set("dram.refresh", draw.word({"all_bank", "per_bank", "none"}));
  set("dram.scheduler", draw.word({"fr_fcfs", "fcfs"}));
  set("dram.interleave", draw.power(6, 9) + " B");
  number("dram.max_wait", 100, 2000, " ns");
  const std::uint64_t core_tlb_ways = draw.pick(1, 4), tlb_ways = draw.pick(1, 4);
  set("mmu.core_tlb_ways", std::to_string(core_tlb_ways));
  set("mmu.core_tlb_entries", std::to_string(core_tlb_ways * draw.pick(1, 5)));
  number("mmu.core_misses", 1, 5);
  set("mmu.tlb_ways", std::to_string(tlb_ways));
  set("mmu.tlb_entries", std::to_string(tlb_ways * draw.pick(1, 10)));
  number("mmu.tlb_latency", 2, 30, " cycles");
  number("mmu.walkers", 1, 4);
  number("mmu.walk_cache_entries", 1, 9);
  number("mmu.table_levels", 1, 4);
  set("mmu.walk_path", draw.word({"l2", "memory"}));
  set("mmu.page_size", draw.word({"4 KiB", "64 KiB", "2 MiB"}));
  set("host.launch_overhead", "1 us");
  number("host.enqueue_overhead", 0, 9, " us");
  number("host.map_overhead", 0, 9, " us");
  set("host.context_creation", "1 ms");
  set("host.program_load", "1 ms");
  set("host.cache_maintenance_bandwidth", draw.word({"100 MB/s", "2 GB/s"}));
  set("queue.copy_overlaps_compute", draw.word({"true", "false"}));
  number("storage.queues", 1, 3);
  number("storage.buffer", 4096, 1 << 18, " B");
  number("storage.command_latency", 0, 50, " us");
  set("storage.read_bandwidth",
      draw.word({"[[4 KiB, 1 GB/s]]", "[[4 KiB, 200 MB/s], [512 KiB, 2 GB/s]]"}));
  number("noc.port_lines", 1, 9);
  number("slc.latency", 20, 200, " ns");
  number("dram.tRCD", 2, 30, " ns");
  number("dram.tRP", 2, 15, " ns");
  number("dram.tWR", 2, 40, " ns");
  config.check();
  return config;
}

}  // namespace fm::test
