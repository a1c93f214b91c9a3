#pragma once
// Launches of no network: shapes drawn at random over the catalogue, to learn from.

#include <cstddef>
#include <cstdint>

#include "core/device_config.hpp"
#include "core/plan.hpp"

namespace fm {

/// A plan of `count` launches (ids "S0" ..) of kernels that may stream, in turn, with shapes drawn
/// from `seed`: sizes between those of a small and of a large layer (up to 2^27
/// multiply-accumulates, tensors up to 4 MiB), even over their logarithms. Tensors lie where the
/// device's planner would put them. Only tensors and launches: to be profiled, not run as a whole.
Plan sampled_launches(std::size_t count, std::uint64_t seed, const DeviceConfig& config);

}  // namespace fm
