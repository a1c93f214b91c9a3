#include "sim/power/energy.hpp"

namespace fm {
namespace {

constexpr double picojoules_per_nanojoule = 1000;

class EventCounts {
 public:
  explicit EventCounts(const CounterRegistry& registry) : registry_(registry) {}
  double of(const std::string& name) const {
    if (registry_.entries().count(name) == 0) return 0;
    return static_cast<double>(registry_.value(name));
  }
  double lookups(const std::string& level) const {
    return of(level + ".read_lookups") + of(level + ".write_lookups") +
           of(level + ".atomic_lookups");
  }

 private:
  const CounterRegistry& registry_;
};

}  // namespace

std::map<std::string, double> energy_by_component(const DeviceConfig& config,
                                                  const CounterRegistry& registry,
                                                  Picoseconds elapsed) {
  const EventCounts events(registry);
  const auto energy = [&](const char* path) { return config.picojoules(path); };
  const double plain_operations =
      events.of("core.operations.fma") + events.of("core.operations.add") +
      events.of("core.operations.convert") + events.of("core.operations.integer");
  const double burst_bits = static_cast<double>(config.count("dram.channel_width_bits") *
                                                config.count("dram.burst_length"));
  std::map<std::string, double> components;
  components["alu"] = plain_operations * energy("energy.fma") +
                      events.of("core.operations.special") * energy("energy.special");
  components["load_store"] = (events.lookups("load_store") + events.of("load_store.atomics") +
                              events.of("local.accesses")) *
                             energy("energy.load_store_access");
  components["texture"] = events.lookups("texture") * energy("energy.texture_access");
  components["noc"] =
      (events.of("noc.bytes_in") + events.of("noc.bytes_out")) * energy("energy.noc_byte");
  components["l2"] = events.lookups("l2") * energy("energy.l2_access");
  components["slc"] = events.lookups("slc") * energy("energy.slc_access");
  components["dram"] = (events.of("dram.read_bursts") + events.of("dram.write_bursts")) *
                       burst_bits * energy("energy.dram_bit");
  components["storage"] = events.of("storage.read_bytes") * energy("energy.storage_byte");
  // mW x ps = 1e-3 pJ.
  components["static"] =
      config.milliwatts("energy.static_power") * static_cast<double>(elapsed.count()) * 1e-3;
  for (auto& [name, value] : components) value /= picojoules_per_nanojoule;
  return components;
}

}  // namespace fm
