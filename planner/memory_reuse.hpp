#pragma once
// Streamed weights that take over the image or buffer of an earlier weight, so that none is made
// while the GPU waits (SmartMem, ASPLOS 2024, keeps a pool of textures for the same reason).

#include <cstdint>
#include <optional>
#include <tuple>

#include "core/plan.hpp"

namespace fm {

/// Placement, width and height in texels and type of an image, or bytes of a buffer: memory of one
/// kind can stand in for each other.
using MemoryKind = std::tuple<Placement, std::uint64_t, std::uint64_t, DataType>;
MemoryKind memory_kind(const PlanTensor& weight);

/// Sets WeightSlice::reuses of streamed weights, and the claims anew. In the order in which their
/// memory is needed, each takes what is of its kind and whose owner was released last, if keeping
/// it until then stays within `budget` (default: the plan's peak claim). Transforms, earliest
/// launches, releases and claims must be set.
void reuse_memory(std::optional<Bytes> budget, Plan* plan);

}  // namespace fm
