#pragma once
// Energy by event: counters times the energy of one event, and static power times time.

#include <map>
#include <string>

#include "core/device_config.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// Nanojoules by component: "alu", "load_store", "texture", "noc", "l2", "slc", "dram", "storage",
/// "static". Every scalar operation but the special functions costs energy.fma; dram counts bits
/// over the bus. A counter nobody registered counts as 0.
std::map<std::string, double> energy_by_component(const DeviceConfig& config,
                                                  const CounterRegistry& registry,
                                                  Picoseconds elapsed);

}  // namespace fm
