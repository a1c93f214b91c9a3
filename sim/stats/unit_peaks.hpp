#pragma once
// How busy every unit was, and where a launch lies under the device's roofs: from counters alone.

#include <cstdint>
#include <map>
#include <string>

#include "core/device_config.hpp"
#include "core/result.hpp"

namespace fm {

/// What a launch or a run did: counters by name (those missing did not move), over `time`, at
/// `gpu_hertz`.
struct UnitWork {
  const std::map<std::string, double>& counters;
  Picoseconds time;
  double gpu_hertz;
};

/// Peak rates of a device's units, from its config.
class UnitPeaks {
 public:
  UnitPeaks(const DeviceConfig& config, bool half_arithmetic);

  double gpu_hertz() const { return gpu_hertz_; }

  /// Achieved over peak by unit: "alu" and of it "alu_fma", "alu_add", "alu_special",
  /// "alu_convert", "alu_integer" (engine cycles taken); "load_store", "texture", "local" (cycles
  /// of their pipes); "noc" (bytes of the busier direction); "l2", "slc" (time of their data
  /// ports); "dram", "disk", "copy" (bytes). Empty for no time.
  std::map<std::string, double> of(const UnitWork& work) const;

  /// Roofline (Williams, Waterman and Patterson, CACM 52(4), 2009) over several levels.
  /// Floating-point operations: two an FMA, one an addition or special function. Bytes: of shader
  /// cores at DRAM and between L2 and cores; at the texture unit what it could have delivered in
  /// the cycles it was busy, so that its roof is that of its rate by texel format.
  ResultRoofline roofline(const UnitWork& work) const;

 private:
  double gpu_hertz_;
  double cores_, engines_, l2_ports_, slc_ports_;
  double fma_per_cycle_;  ///< of one core
  double link_bytes_, l2_bytes_, texture_bytes_, burst_bytes_;
  double dram_bandwidth_, disk_bandwidth_, copy_bandwidth_;
};

}  // namespace fm
