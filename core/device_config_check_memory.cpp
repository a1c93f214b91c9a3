// Contradictions between parameters of the shared levels, translation and the CPU's ways to memory.
#include <algorithm>
#include <cmath>

#include "core/device_config_rules.hpp"

namespace fm {
namespace {

void check_l2(const ConfigRules& rules) {
  rules.power_of_two("l2.line");
  rules.whole_sets("l2.size", "l2.ways", "l2.line", {"l2.slices"});
  rules.multiple("l2.line", "load_store.line", "an L1 line must lie in one line of the L2");
  rules.multiple("l2.line", "texture.line", "a texture line must lie in one line of the L2");
  rules.at_most("l2.bytes_per_clock", "l2.line", "a slice gives at most a line a clock");
}

/// Between cores and the L2, on devices that have them.
void check_clusters(const ConfigRules& rules) {
  if (rules.number("cluster.size") == 0) return;
  rules.power_of_two("cluster.line");
  rules.whole_sets("cluster.size", "cluster.ways", "cluster.line", {"cluster.slices"});
  rules.multiple("cluster.line", "load_store.line", "an L1 line must lie in one line of a cluster");
  rules.multiple("cluster.line", "texture.line",
                 "a texture line must lie in one line of a cluster");
  rules.multiple("l2.line", "cluster.line", "a cluster's line must lie in one line of the L2");
  rules.at_most("cluster.cores", "gpu.cores", "a cluster has some of the cores");
}

void check_slc(const ConfigRules& rules) {
  rules.power_of_two("slc.line");
  // A slice for each channel.
  rules.whole_sets("slc.size", "slc.ways", "slc.line", {"dram.channels"});
  rules.multiple("slc.line", "l2.line", "an L2 line must lie in one line of the next level");
  const double ways = rules.number("slc.gpu_share") * rules.number("slc.ways");
  rules.require(ways >= 1, "slc.gpu_share", {"slc.ways"}, "it is less than one way",
                "give the GPU at least one of its ways");
  const double port =
      rules.number("l2.slices") * rules.number("l2.bytes_per_clock") * rules.number("gpu.clock");
  rules.require(rules.number("slc.bandwidth") <= port, "slc.bandwidth",
                {"l2.bytes_per_clock", "l2.slices", "gpu.clock"}, "the L2 takes less",
                "at most " + std::to_string(static_cast<long long>(port / 1e6)) +
                    " MB/s pass at that clock and width");
}

void check_pages(const ConfigRules& rules) {
  for (const char* path :
       {"mmu.page_size", "allocator.buffer_alignment", "allocator.image_alignment"}) {
    rules.power_of_two(path);
  }
  rules.multiple("mmu.core_tlb_entries", "mmu.core_tlb_ways", "every set has all ways");
  rules.multiple("mmu.tlb_entries", "mmu.tlb_ways", "every set has all ways");
  rules.multiple("mmu.page_size", "l2.line", "a line must lie in one page");
  rules.multiple("mmu.page_size", "slc.line", "a line must lie in one page");
  rules.at_most("mmu.page_size", "limits.max_allocation", "nothing could be allocated");
}

/// No client moves more than DRAM does.
void check_bandwidths(const ConfigRules& rules) {
  const double peak = rules.number("dram.channels") * rules.number("dram.channel_width_bits") / 8 *
                      rules.number("dram.data_rate");
  const std::vector<std::string> channel{"dram.data_rate", "dram.channels",
                                         "dram.channel_width_bits"};
  const std::string remedy =
      "at most " + std::to_string(static_cast<long long>(peak / 1e6)) + " MB/s do";
  double fastest_read = 0;
  for (const CurvePoint& point : rules.curve("storage.read_bandwidth")) {
    fastest_read = std::max(fastest_read, point.y);
  }
  rules.require(fastest_read <= peak, "storage.read_bandwidth", channel, "DRAM moves less", remedy);
  const double traffic =
      rules.number("traffic.display_bandwidth") + rules.number("traffic.background_bandwidth");
  rules.require(traffic < peak, "traffic.display_bandwidth",
                {"traffic.background_bandwidth", "dram.data_rate", "dram.channels",
                 "dram.channel_width_bits"},
                "the two leave nothing of what DRAM moves", remedy);
  for (const char* path :
       {"host.copy_bandwidth", "host.transfer_bandwidth", "allocator.zeroing_bandwidth"}) {
    rules.require(rules.number(path) <= peak, path, channel, "DRAM moves less", remedy);
  }
}

}  // namespace

void check_memory_rules(const ConfigRules& rules) {
  check_l2(rules);
  check_clusters(rules);
  check_slc(rules);
  check_pages(rules);
  check_bandwidths(rules);
}

}  // namespace fm
