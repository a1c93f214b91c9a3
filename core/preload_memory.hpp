#pragma once
// What is resident before the first launch, while preloaded weights are read.

#include "core/plan.hpp"

namespace fm {

/// The ring that `images` bytes of preloaded image weights pass through in a plan that streams none
/// (staging_ring_bytes 0): 4 MiB, or twice what passes through it, at least a row, and the blocks
/// of the file around it. It is gone before the first launch.
Bytes preload_ring(Bytes images, Bytes widest_row);
Bytes preload_ring(const Plan& plan);

/// Pools, preloaded weights and the ring they pass through.
Bytes preloading_bytes(const Plan& plan);

}  // namespace fm
