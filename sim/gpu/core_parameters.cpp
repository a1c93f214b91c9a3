#include "sim/gpu/core_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/gpu/wave_order.hpp"
#include "sim/memory/memory_parameters.hpp"

namespace fm {
namespace {

std::uint32_t count(const DeviceConfig& config, const std::string& path) {
  return static_cast<std::uint32_t>(config.count(path));
}
std::uint32_t byte_count(const DeviceConfig& config, const std::string& path) {
  return static_cast<std::uint32_t>(config.bytes(path).count());
}
std::uint32_t cycle_count(const DeviceConfig& config, const std::string& path) {
  return static_cast<std::uint32_t>(config.cycles(path).count());
}

UnitParameters unit_parameters(const DeviceConfig& config, const std::string& unit) {
  UnitParameters parameters;
  parameters.queue = count(config, unit + ".queue");
  parameters.latency = cycle_count(config, unit + ".latency");
  parameters.bytes_per_cycle = byte_count(config, unit + ".bytes_per_clock");
  parameters.cache_bytes = config.bytes(unit + ".cache_size").count();
  parameters.line_bytes = byte_count(config, unit + ".line");
  parameters.ways = count(config, unit + ".ways");
  parameters.mshrs = count(config, unit + ".mshrs");
  parameters.targets = count(config, unit + ".merges");
  const bool clusters = config.bytes("cluster.size").count() != 0;
  parameters.write_line_bytes = byte_count(config, clusters ? "cluster.line" : "l2.line");
  parameters.write_credits = count(config, "load_store.stores_in_flight");
  return parameters;
}

Occupancy occupancy(const DeviceConfig& config) {
  Occupancy occupancy;
  occupancy.waves = count(config, "gpu.waves_per_core");
  occupancy.wave_width = count(config, "gpu.wave_width");
  occupancy.registers = count(config, "gpu.registers_per_core");
  occupancy.full_occupancy_registers = count(config, "gpu.full_occupancy_registers");
  occupancy.workgroups = std::min(count(config, "gpu.workgroups_per_core"), occupancy.waves);
  occupancy.local_bytes = config.bytes("local.size").count();
  return occupancy;
}

/// Lanes a cycle of one engine. Engines take turns at a unit of less than a lane each.
double lanes(const DeviceConfig& config, const char* path, std::uint32_t engines) {
  const double rate = config.ratio(path);
  return rate < 1 ? rate : std::max(1.0, rate / engines);
}

void refuse(bool wrong, const std::string& message) {
  if (wrong) throw UserError(message);
}

}  // namespace

CoreParameters core_parameters(const DeviceConfig& config) {
  CoreParameters core;
  core.wave_width = count(config, "gpu.wave_width");
  core.skips_inactive_lanes = config.word("gpu.inactive_lanes") == "skipped";
  core.engines = count(config, "gpu.issue_per_clock");
  core.waves = count(config, "gpu.waves_per_core");
  core.outstanding_loads = count(config, "gpu.max_outstanding_loads");
  refuse(core.engines > maximum_engines, "gpu.issue_per_clock: the simulator issues at most " +
                                             std::to_string(maximum_engines) + " a clock");
  const std::uint32_t slots = std::min(maximum_waves, core.engines * EngineWaves::capacity);
  refuse(core.waves > slots, "gpu.waves_per_core: the simulator holds at most " +
                                 std::to_string(slots) +
                                 " waves a core (64 for each of gpu.issue_per_clock)");
  refuse(core.outstanding_loads > maximum_outstanding,
         "gpu.max_outstanding_loads: the simulator tracks at most " +
             std::to_string(maximum_outstanding));
  core.oldest_first = config.word("gpu.scheduler") == "oldest_first";
  const double fma = lanes(config, "gpu.fma_per_clock", core.engines);
  core.lanes = {fma, fma, lanes(config, "gpu.special_per_clock", core.engines),
                lanes(config, "gpu.convert_per_clock", core.engines),
                lanes(config, "gpu.integer_per_clock", core.engines)};
  core.half_speedup = config.ratio("gpu.fp16_ratio");
  core.arithmetic_latency = cycle_count(config, "gpu.arithmetic_latency");
  core.work_item_start = cycle_count(config, "gpu.work_item_start");
  core.occupancy = occupancy(config);
  core.load_store = unit_parameters(config, "load_store");
  core.load_store.write_back =
      core.load_store.cache_bytes != 0 && config.word("load_store.write_policy") == "write_back";
  core.load_store.lanes_per_cycle = config.ratio("load_store.lanes_per_clock");
  core.load_store.lane_bytes = byte_count(config, "load_store.max_lane_bytes");
  core.load_store.atomic_cycles = cycle_count(config, "load_store.atomic_time");
  core.texture = unit_parameters(config, "texture");
  core.texture.return_bytes_per_cycle = byte_count(config, "texture.return_bytes_per_clock");
  core.texture.wide_ways = std::max(
      1u, static_cast<std::uint32_t>(config.ratio("texture.wide_capacity") * core.texture.ways));
  core.local.queue = core.load_store.queue;
  core.local.latency = cycle_count(config, "local.latency");
  core.local.bytes_per_cycle = byte_count(config, "local.bytes_per_clock");
  core.local_backing =
      config.word("local.kind") == "dedicated" ? LocalBacking::banks : LocalBacking::cache;
  core.local_banks = count(config, "local.banks");
  core.texels_per_cycle = config.ratio("texture.texels_per_clock");
  core.wide_texel_ratio = config.ratio("texture.wide_texel_ratio");
  core.image_writes_cached = config.word("texture.image_writes") == "load_store";
  core.texels = TexelLayout::from(config);
  core.link_bytes_per_cycle = byte_count(config, "noc.bytes_per_clock");
  const MemoryParameters memory = memory_parameters(config);
  core.request_latency = memory.request_cycles;
  core.answer_latency = memory.answer_cycles;
  // A free place is reported in request_latency cycles; what is left of the dispatch time is the
  // way to the core, at least as long.
  const std::uint32_t dispatch = cycle_count(config, "gpu.workgroup_dispatch");
  core.dispatch_latency = dispatch > 2 * memory.request_cycles ? dispatch - memory.request_cycles
                                                               : memory.request_cycles;
  return core;
}

}  // namespace fm
