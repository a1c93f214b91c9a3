#pragma once
// Parts of a device that cost nothing: what is left shows what they cost.

#include <set>
#include <string>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

struct MemoryParameters;

enum class PerfectPart {
  l2,       ///< every request hits it, at its latency, any number at a time
  dram,     ///< every access finds its row open and the bus free
  texture,  ///< every texel hits the texture cache; an access takes one cycle
  disk,     ///< storage has its data at once; writing it to memory still takes what it takes
  launch    ///< launches and their enqueueing take no time of their own
};

/// "l2", "dram", "texture", "disk", "launch". Throws UserError naming them.
std::set<PerfectPart> parse_perfect(const std::vector<std::string>& words);
std::string to_string(PerfectPart part);

/// The config with perfect disk and launches, checked before.
DeviceConfig with_perfect(DeviceConfig config, const std::set<PerfectPart>& parts);
/// The parameters with perfect L2 and DRAM.
MemoryParameters with_perfect(MemoryParameters parameters, const std::set<PerfectPart>& parts);

}  // namespace fm
