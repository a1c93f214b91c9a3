#pragma once
// What a larger memory costs to reach.

#include <set>
#include <string>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

/// A capacity of a config, and the values that a what-if of it leaves untouched unless scaled.
struct CapacityCosts {
  std::string capacity;                ///< "l2.size"
  std::vector<std::string> latencies;  ///< paths of an access's latencies
  std::vector<std::string> energies;   ///< paths of an access's energies

  std::vector<std::string> paths() const;  ///< of both
};
/// Every capacity there is; `fmsim --explain` marks them, for those who ask from outside.
const std::vector<CapacityCosts>& capacity_costs();

/// Those whose capacity differs between the two configs.
std::vector<CapacityCosts> changed_capacities(const DeviceConfig& before,
                                              const DeviceConfig& after);

/// Multiplies latencies and energies of an access to the memories whose capacity differs from
/// `before`'s by the square root of the capacities' ratio, except the paths in `kept`. The wires to
/// an array's cells, which large arrays spend most of their time and energy on, grow with the side
/// of the array (CACTI 6.0, HP Laboratories HPL-2009-85). A latency stays a cycle or more. Throws
/// UserError when a scaled value is out of its range.
void scale_with_capacities(const DeviceConfig& before, const std::set<std::string>& kept,
                           DeviceConfig* config);

}  // namespace fm
