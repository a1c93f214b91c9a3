// Contradictions between parameters: each rule names the keys it compares.
#include <algorithm>
#include <cmath>

#include "core/device_config.hpp"

namespace fm {
namespace {

class Rules {
 public:
  explicit Rules(const DeviceConfig& config) : config_(config) {}

  double number(const std::string& path) const { return config_.values().at(path).number; }

  const std::string& word(const std::string& path) const { return config_.values().at(path).word; }

  bool is(const std::string& path, const char* word) const {
    return config_.values().at(path).word == word;
  }

  /// "l2.line (256 B)"
  std::string named(const std::string& path) const {
    const ConfigValue& value = config_.values().at(path);
    return path + " (" + value.text + ")";
  }

  /// Throws at `path`, the first of the keys that contradict each other.
  void require(bool holds, const std::string& path, const std::string& message) const {
    if (!holds) throw UserError(config_.values().at(path).where, message);
  }

  void power_of_two(const std::string& path) const {
    const double exponent = std::log2(number(path));
    require(exponent == std::floor(exponent), path, named(path) + " must be a power of two");
  }

  void at_most(const std::string& small, const std::string& large) const {
    require(number(small) <= number(large), small,
            named(small) + " contradicts " + named(large) + ": it is larger");
  }

  void multiple(const std::string& large, const std::string& small) const {
    require(std::fmod(number(large), number(small)) == 0, large,
            named(large) + " contradicts " + named(small) + ": it is not a multiple of it");
  }

  void cache(const std::string& size, const std::string& unit,
             const std::string& slices = "") const {
    const std::string line = unit + ".line", ways = unit + ".ways";
    power_of_two(line);
    if (number(size) == 0) return;
    at_most(line, size);
    const double parts = slices.empty() ? 1 : number(slices);
    require(std::fmod(number(size), number(ways) * number(line) * parts) == 0, size,
            named(size) + " contradicts " + named(ways) + ", " + named(line) +
                (slices.empty() ? "" : " and " + named(slices)) +
                ": it is not a whole number of sets");
  }

 private:
  const DeviceConfig& config_;
};

void check_gpu(const Rules& rules) {
  rules.power_of_two("gpu.wave_width");
  const double lanes = rules.number("gpu.issue_per_clock") * rules.number("gpu.wave_width");
  rules.require(rules.number("gpu.fma_per_clock") <= lanes, "gpu.fma_per_clock",
                rules.named("gpu.fma_per_clock") + " contradicts " +
                    rules.named("gpu.issue_per_clock") + " and " + rules.named("gpu.wave_width") +
                    ": more than can be issued");
}

void check_caches(const Rules& rules, const DeviceConfig& config) {
  if (rules.number("load_store.cache_size") != 0) {
    rules.cache("load_store.cache_size", "load_store");
  } else {
    rules.power_of_two("load_store.line");
  }
  rules.cache("texture.cache_size", "texture");
  const bool needs_cache = config.word("load_store.write_policy") == "write_back" ||
                           config.word("local.kind") != "dedicated";
  rules.require(rules.number("load_store.cache_size") > 0 || !needs_cache, "load_store.cache_size",
                rules.named("load_store.cache_size") + " contradicts " +
                    rules.named("load_store.write_policy") + " and " + rules.named("local.kind") +
                    ": one of them needs the cache");
  rules.cache("l2.size", "l2", "l2.slices");
  rules.cache("slc.size", "slc");
  if (rules.number("cluster.size") != 0) {
    rules.cache("cluster.size", "cluster", "cluster.slices");
    rules.multiple("cluster.line", "load_store.line");
    rules.multiple("cluster.line", "texture.line");
    rules.multiple("l2.line", "cluster.line");
    rules.at_most("cluster.cores", "gpu.cores");
  }
  rules.multiple("l2.line", "load_store.line");
  rules.multiple("l2.line", "texture.line");
  rules.multiple("slc.line", "l2.line");
  rules.at_most("l2.bytes_per_clock", "l2.line");
  rules.power_of_two("mmu.page_size");
  rules.power_of_two("allocator.buffer_alignment");
  rules.power_of_two("allocator.image_alignment");
  rules.multiple("mmu.page_size", "l2.line");
  rules.multiple("mmu.core_tlb_entries", "mmu.core_tlb_ways");
  rules.multiple("mmu.tlb_entries", "mmu.tlb_ways");
  rules.power_of_two("texture.block_bytes");
  rules.power_of_two("texture.pitch_alignment");
  rules.power_of_two("texture.row_alignment");
  rules.multiple("texture.block_bytes", "texture.line");
}

void check_dram(const Rules& rules) {
  rules.power_of_two("dram.row_size");
  rules.power_of_two("dram.interleave");
  rules.power_of_two("dram.banks");
  rules.multiple("dram.banks", "dram.bank_groups");
  const double burst =
      rules.number("dram.channel_width_bits") / 8 * rules.number("dram.burst_length");
  for (const char* path : {"dram.row_size", "dram.interleave", "l2.line"}) {
    rules.require(std::fmod(rules.number(path), burst) == 0, path,
                  rules.named(path) + " contradicts " + rules.named("dram.channel_width_bits") +
                      " and " + rules.named("dram.burst_length") +
                      ": it is not a whole number of bursts");
  }
  rules.power_of_two("dram.bank_groups");
  rules.power_of_two("dram.rows");
  rules.multiple("dram.burst_length", "dram.transfers_per_clock");
  rules.at_most("dram.tRCD", "dram.tRAS");
  rules.at_most("dram.tRP", "dram.tRPab");
  rules.at_most("dram.tRRD_S", "dram.tRRD_L");
  rules.at_most("dram.tRRD_S", "dram.tFAW");
  rules.at_most("dram.tCCD_S", "dram.tCCD_L");
  rules.at_most("dram.tWTR_S", "dram.tWTR_L");
  rules.at_most("dram.tRFCab", "dram.tREFI");
  rules.at_most("dram.write_low", "dram.write_high");
  const double sets = rules.number("dram.refresh_sets");
  rules.require(rules.word("dram.refresh") != "per_bank" || sets != 0, "dram.refresh",
                rules.named("dram.refresh") + " contradicts " + rules.named("dram.refresh_sets") +
                    ": the part has no per-bank refresh");
  if (sets == 0) return;
  rules.multiple("dram.banks", "dram.refresh_sets");
  rules.require(rules.number("dram.tRFCpb") * sets <= rules.number("dram.tREFI"), "dram.tRFCpb",
                rules.named("dram.tRFCpb") + " contradicts " + rules.named("dram.refresh_sets") +
                    " and " + rules.named("dram.tREFI") + ": refreshes would overlap");
}

void check_clocks(const Rules& rules, const DeviceConfig& config) {
  for (const char* path : {"gpu.operating_points", "host.operating_points"}) {
    rules.require(config.curve(path).back().x == 1, path,
                  rules.named(path) +
                      ": the last operating point must be the share 1, the clock "
                      "that all other keys are for");
  }
  rules.at_most("governor.down_threshold", "governor.up_threshold");
}

void check_bandwidths(const Rules& rules, const DeviceConfig& config) {
  const double peak = rules.number("dram.channels") * rules.number("dram.channel_width_bits") / 8 *
                      rules.number("dram.data_rate");
  double fastest_read = 0;
  for (const CurvePoint& point : config.curve("storage.read_bandwidth")) {
    fastest_read = std::max(fastest_read, point.y);
  }
  const std::string channel = rules.named("dram.data_rate") + ", " + rules.named("dram.channels") +
                              " and " + rules.named("dram.channel_width_bits") +
                              ": DRAM moves less";
  rules.require(fastest_read <= peak, "storage.read_bandwidth",
                rules.named("storage.read_bandwidth") + " contradicts " + channel);
  for (const char* path :
       {"host.copy_bandwidth", "host.transfer_bandwidth", "allocator.zeroing_bandwidth"}) {
    rules.require(rules.number(path) <= peak, path, rules.named(path) + " contradicts " + channel);
  }
  const double traffic =
      rules.number("traffic.display_bandwidth") + rules.number("traffic.background_bandwidth");
  rules.require(traffic < peak, "traffic.display_bandwidth",
                rules.named("traffic.display_bandwidth") + " and " +
                    rules.named("traffic.background_bandwidth") + " contradict " + channel);
  const double port =
      rules.number("l2.slices") * rules.number("l2.bytes_per_clock") * rules.number("gpu.clock");
  rules.require(rules.number("slc.bandwidth") <= port, "slc.bandwidth",
                rules.named("slc.bandwidth") + " contradicts " + rules.named("l2.bytes_per_clock") +
                    ", " + rules.named("l2.slices") + " and " + rules.named("gpu.clock") +
                    ": the L2 takes less");
}

}  // namespace

void DeviceConfig::check() const {
  const Rules rules(*this);
  check_gpu(rules);
  check_caches(rules, *this);
  check_dram(rules);
  check_bandwidths(rules, *this);
  check_clocks(rules, *this);
  rules.at_most("limits.max_allocation", "limits.app_memory");
  rules.at_most("limits.max_allocation", "allocator.address_space");
}

}  // namespace fm
