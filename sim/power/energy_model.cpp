#include "sim/power/energy_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/memory/memory_parameters.hpp"

namespace fm {
namespace {

constexpr double femtojoules_per_picojoule = 1000;

}  // namespace

EnergyModel::EnergyModel(const DeviceConfig& config, const CounterRegistry& registry,
                         bool half_arithmetic)
    : registry_(registry) {
  gpu_events(config, half_arithmetic);
  memory_events(config);
  event("storage", "storage.read_bytes", config.picojoules("energy.storage_byte"),
        PowerDomain::fixed);
  // mW x ps = fJ: an event here is a picosecond of a core at its fastest point; slower ones count
  // less of them.
  event("cpu", "host.active_time",
        config.milliwatts("energy.cpu_active") / femtojoules_per_picojoule, PowerDomain::fixed);
  background("static_gpu", config.milliwatts("energy.static_gpu"), PowerDomain::gpu);
  background("static_memory", config.milliwatts("energy.static_memory"), PowerDomain::memory);
  background("static_cpu", config.milliwatts("energy.static_cpu"), PowerDomain::fixed);
  background("static_storage", config.milliwatts("energy.static_storage"), PowerDomain::fixed);
}

void EnergyModel::gpu_events(const DeviceConfig& config, bool half_arithmetic) {
  const auto add = [&](const char* component, const char* counter, const char* key) {
    event(component, counter, config.picojoules(key), PowerDomain::gpu);
  };
  add("alu_fma", "core.operations.fma", half_arithmetic ? "energy.fma_half" : "energy.fma");
  add("alu_add", "core.operations.add", half_arithmetic ? "energy.add_half" : "energy.add");
  add("alu_special", "core.operations.special", "energy.special");
  add("alu_convert", "core.operations.convert", "energy.convert");
  add("alu_integer", "core.operations.integer", "energy.integer");
  add("load_store_read", "load_store.read_lookups", "energy.load_store_read");
  add("load_store_read", "load_store.atomics", "energy.load_store_read");
  add("load_store_write", "load_store.write_lookups", "energy.load_store_write");
  add("load_store_write", "load_store.fetches", "energy.load_store_write");
  add("local", "local.accesses", "energy.local_access");
  add("texture_read", "texture.read_lookups", "energy.texture_read");
  add("texture_write", "texture.fetches", "energy.texture_write");
  add("noc", "noc.bytes_in", "energy.noc_byte");
  add("noc", "noc.bytes_out", "energy.noc_byte");
  add("l2_read", "l2.read_lookups", "energy.l2_read");
  add("l2_read", "l2.atomic_lookups", "energy.l2_read");
  add("l2_write", "l2.write_lookups", "energy.l2_write");
  add("l2_write", "l2.fetches", "energy.l2_write");
}

void EnergyModel::memory_events(const DeviceConfig& config) {
  const auto add = [&](const char* component, const char* counter, double picojoules) {
    event(component, counter, picojoules, PowerDomain::memory);
  };
  const double slc_read = config.picojoules("energy.slc_read");
  const double slc_write = config.picojoules("energy.slc_write");
  add("slc_read", "slc.read_lookups", slc_read);
  add("slc_read", "slc.atomic_lookups", slc_read);
  add("slc_write", "slc.write_lookups", slc_write);
  add("slc_write", "slc.fetches", slc_write);
  const auto burst_bits = static_cast<double>(8 * dram_burst(config).count());
  add("dram_activate", "dram.activations", config.picojoules("energy.dram_activate"));
  add("dram_read", "dram.read_bursts", burst_bits * config.picojoules("energy.dram_read_bit"));
  add("dram_write", "dram.write_bursts", burst_bits * config.picojoules("energy.dram_write_bit"));
  const double refresh = config.picojoules("energy.dram_refresh");
  add("dram_refresh", "dram.refreshes", refresh);
  // As many per-bank refreshes do what one of all banks does; some parts have none.
  add("dram_refresh", "dram.bank_refreshes",
      refresh / std::max(1u, memory_parameters(config).dram.refresh_sets));
}

std::size_t EnergyModel::component(const std::string& name) {
  const auto known = std::find(components_.begin(), components_.end(), name);
  if (known != components_.end()) return static_cast<std::size_t>(known - components_.begin());
  components_.push_back(name);
  return components_.size() - 1;
}

void EnergyModel::event(const std::string& name, const std::string& counter, double picojoules,
                        PowerDomain domain) {
  const auto entry = registry_.entries().find(counter);
  if (entry == registry_.entries().end()) {
    throw std::logic_error("energy of " + name + ": nothing counts " + counter);
  }
  terms_.push_back({component(name), picojoules * femtojoules_per_picojoule, domain});
  counters_.push_back(&entry->second);
}

void EnergyModel::background(const std::string& name, double milliwatts, PowerDomain domain) {
  statics_.push_back({component(name), milliwatts, domain});
}

EventCounts EnergyModel::counts() const {
  EventCounts counts;
  counts.reserve(counters_.size());
  for (const CounterEntry* entry : counters_) {
    std::uint64_t sum = 0;
    for (const std::uint64_t* cell : entry->cells) sum += *cell;
    counts.push_back(static_cast<double>(sum));
  }
  return counts;
}

EventCounts EnergyModel::counts(const std::map<std::string, double>& moved) const {
  EventCounts counts;
  counts.reserve(counters_.size());
  for (const CounterEntry* entry : counters_) {
    const auto found = moved.find(entry->name);
    counts.push_back(found == moved.end() ? 0 : found->second);
  }
  return counts;
}

EnergyByComponent EnergyModel::energy(const EventCounts& moved, Picoseconds elapsed,
                                      const VoltageRatios& voltages) const {
  std::vector<double> sums(components_.size());
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const double voltage = voltages[static_cast<std::size_t>(terms_[i].domain)];
    sums[terms_[i].component] += moved[i] * terms_[i].femtojoules * voltage * voltage;
  }
  for (const Static& part : statics_) {
    sums[part.component] += static_cast<double>(elapsed.count()) * part.femtojoules *
                            voltages[static_cast<std::size_t>(part.domain)];
  }
  EnergyByComponent energy;
  energy.reserve(sums.size());
  for (const double sum : sums) energy.push_back(static_cast<Femtojoules>(std::llround(sum)));
  return energy;
}

}  // namespace fm
