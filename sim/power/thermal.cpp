#include "sim/power/thermal.hpp"

#include <cmath>

namespace fm {

ThermalNode::ThermalNode(const DeviceConfig& config)
    : ambient_(config.celsius("thermal.ambient")),
      resistance_(config.kelvin_per_watt("thermal.resistance")),
      time_constant_(resistance_ * config.joules_per_kelvin("thermal.capacity")),
      celsius_(config.celsius("thermal.start")) {}

void ThermalNode::heat(double watts, Picoseconds time) {
  const double settled = ambient_ + watts * resistance_;
  const double seconds = static_cast<double>(time.count()) * 1e-12;
  celsius_ = settled + (celsius_ - settled) * std::exp(-seconds / time_constant_);
}

}  // namespace fm
