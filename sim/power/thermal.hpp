#pragma once
// The phone's temperature and what it forbids.

#include "core/device_config.hpp"
#include "core/units.hpp"

namespace fm {

/// One thermal node: heat capacity C to the ambient through resistance R. Power P held for t moves
/// it to T_ambient + P R + (T - T_ambient - P R) exp(-t / (R C)), exactly.
class ThermalNode {
 public:
  /// Reads thermal.*; begins at thermal.start.
  explicit ThermalNode(const DeviceConfig& config);
  void heat(double watts, Picoseconds time);
  double celsius() const { return celsius_; }

 private:
  double ambient_, resistance_, time_constant_;  // C, K/W, s
  double celsius_;
};

}  // namespace fm
