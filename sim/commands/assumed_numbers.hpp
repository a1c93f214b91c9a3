#pragma once
// How far a config is a guess: its assumed numbers, moved.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

/// PATH=VALUE of every assumed number of `config`, up or down by `share` (0 to 1), as a coin says
/// that only `corner` and the path decide: the same for two configs. Capacities, words, flags and
/// curves stay, as do the paths in `kept`, and what would make the config contradict itself or
/// leave a range.
std::vector<std::string> moved_assumptions(const DeviceConfig& config, double share,
                                           std::uint32_t corner, const std::set<std::string>& kept);

}  // namespace fm
