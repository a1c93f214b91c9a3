#include "planner/profile/device_rates.hpp"

namespace fm {
namespace {

double count(const DeviceConfig& config, const char* path) {
  return static_cast<double>(config.count(path));
}
double bytes(const DeviceConfig& config, const char* path) {
  return static_cast<double>(config.bytes(path).count());
}

double count_of(Cycles cycles) { return static_cast<double>(cycles.count()); }

}  // namespace

DeviceRates device_rates(const DeviceConfig& config) {
  DeviceRates rates;
  rates.isa = config.word("gpu.isa");
  rates.cores = count(config, "gpu.cores");
  rates.clock = config.hertz("gpu.clock") * 1e-9;
  rates.wave_width = count(config, "gpu.wave_width");
  rates.waves = count(config, "gpu.waves_per_core");
  rates.registers = count(config, "gpu.registers_per_core");
  rates.full_occupancy_registers = count(config, "gpu.full_occupancy_registers");
  rates.streaming_registers = count(config, "gpu.streaming_registers");
  rates.workgroups = count(config, "gpu.workgroups_per_core");
  rates.local_bytes = bytes(config, "local.size");
  const double clocks = rates.cores * rates.clock;
  rates.fma = clocks * config.ratio("gpu.fma_per_clock");
  rates.half_ratio = config.ratio("gpu.fp16_ratio");
  rates.special = clocks * config.ratio("gpu.special_per_clock");
  rates.convert = clocks * config.ratio("gpu.convert_per_clock");
  rates.integer = clocks * config.ratio("gpu.integer_per_clock");
  rates.issue = clocks * count(config, "gpu.issue_per_clock");
  rates.texels = clocks * config.ratio("texture.texels_per_clock");
  rates.lanes = clocks * config.ratio("load_store.lanes_per_clock");
  rates.l1_bytes = clocks * bytes(config, "texture.bytes_per_clock");
  rates.l2_bytes = rates.clock * count(config, "l2.slices") * bytes(config, "l2.bytes_per_clock");
  rates.slc_bytes = config.bytes_per_second("slc.bandwidth") * 1e-9;
  rates.dram_bytes = dram_peak_bandwidth(config) * 1e-9;
  rates.l1_size = bytes(config, "texture.cache_size");
  rates.l2_size = bytes(config, "l2.size");
  rates.slc_size = bytes(config, "slc.size") * config.ratio("slc.gpu_share");
  const bool clusters = config.bytes("cluster.size").count() != 0;
  const double cycles = count_of(config.cycles("load_store.latency")) +
                        (clusters ? count_of(config.cycles("cluster.latency")) : 0) +
                        count_of(config.cycles("l2.latency")) +
                        2 * count_of(config.cycles("noc.latency"));
  rates.latency =
      cycles / rates.clock + static_cast<double>(config.time("slc.latency").count()) * 1e-3;
  rates.near_latency = count_of(config.cycles("texture.latency")) / rates.clock;
  rates.store_bytes = count(config, "load_store.stores_in_flight") *
                      bytes(config, clusters ? "cluster.line" : "l2.line");
  rates.launch_overhead = static_cast<double>(config.time("host.launch_overhead").count()) * 1e-3;
  for (const DeviceRateName& name : device_rate_names()) {  // as files keep them
    rates.*name.rate = static_cast<double>(static_cast<float>(rates.*name.rate));
  }
  return rates;
}

const std::vector<DeviceRateName>& device_rate_names() {
  using R = DeviceRates;
  static const std::vector<DeviceRateName> names{
      {"cores", &R::cores},
      {"clock", &R::clock},
      {"wave_width", &R::wave_width},
      {"waves", &R::waves},
      {"registers", &R::registers},
      {"full_occupancy_registers", &R::full_occupancy_registers},
      {"streaming_registers", &R::streaming_registers},
      {"workgroups", &R::workgroups},
      {"local_bytes", &R::local_bytes},
      {"fma", &R::fma},
      {"half_ratio", &R::half_ratio},
      {"special", &R::special},
      {"convert", &R::convert},
      {"integer", &R::integer},
      {"issue", &R::issue},
      {"texels", &R::texels},
      {"lanes", &R::lanes},
      {"l1_bytes", &R::l1_bytes},
      {"l2_bytes", &R::l2_bytes},
      {"slc_bytes", &R::slc_bytes},
      {"dram_bytes", &R::dram_bytes},
      {"l1_size", &R::l1_size},
      {"l2_size", &R::l2_size},
      {"slc_size", &R::slc_size},
      {"latency", &R::latency},
      {"near_latency", &R::near_latency},
      {"store_bytes", &R::store_bytes},
      {"launch_overhead", &R::launch_overhead}};
  return names;
}

}  // namespace fm
