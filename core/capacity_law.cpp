#include "core/capacity_law.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

std::string scaled_text(const DeviceConfig& config, const std::string& path, double factor) {
  const auto& schema = device_config_schema();
  const auto parameter =
      std::find_if(schema.begin(), schema.end(),
                   [&](const ParameterSchema& candidate) { return candidate.path == path; });
  double number = config.values().at(path).number * factor;
  const bool whole =
      parameter->kind == QuantityKind::cycles || parameter->kind == QuantityKind::time;
  if (whole) number = std::max(1.0, std::round(number));
  return quantity_text(number, parameter->kind);
}

}  // namespace

std::vector<std::string> CapacityCosts::paths() const {
  std::vector<std::string> both = latencies;
  both.insert(both.end(), energies.begin(), energies.end());
  return both;
}

const std::vector<CapacityCosts>& capacity_costs() {
  static const std::vector<CapacityCosts> costs{
      {"load_store.cache_size",
       {"load_store.latency"},
       {"energy.load_store_read", "energy.load_store_write"}},
      {"texture.cache_size", {"texture.latency"}, {"energy.texture_read", "energy.texture_write"}},
      {"local.size", {"local.latency"}, {"energy.local_access"}},
      {"cluster.size", {"cluster.latency"}, {}},
      {"l2.size", {"l2.latency"}, {"energy.l2_read", "energy.l2_write"}},
      {"slc.size", {"slc.latency"}, {"energy.slc_read", "energy.slc_write"}},
  };
  return costs;
}

std::vector<CapacityCosts> changed_capacities(const DeviceConfig& before,
                                              const DeviceConfig& after) {
  std::vector<CapacityCosts> changed;
  for (const CapacityCosts& costs : capacity_costs()) {
    if (before.bytes(costs.capacity) != after.bytes(costs.capacity)) changed.push_back(costs);
  }
  return changed;
}

void scale_with_capacities(const DeviceConfig& before, const std::set<std::string>& kept,
                           DeviceConfig* config) {
  for (const CapacityCosts& costs : changed_capacities(before, *config)) {
    const double had = static_cast<double>(before.bytes(costs.capacity).count());
    const double has = static_cast<double>(config->bytes(costs.capacity).count());
    if (had == 0 || has == 0) continue;  // a memory that appears, or goes
    for (const std::string& path : costs.paths()) {
      if (kept.count(path) != 0) continue;
      config->set(path, scaled_text(before, path, std::sqrt(has / had)));
    }
  }
}

}  // namespace fm
