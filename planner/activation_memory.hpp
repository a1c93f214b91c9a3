#pragma once
// Where activations, inputs and outputs lie: offsets in one buffer pool, and image slots, shared by
// lifetime.

#include "core/plan.hpp"

namespace fm {

/// Fills first_use and last_use of every tensor from the launches' arguments.
void set_uses(Plan* plan);

/// Gives every tensor that is no weight its pool and offset. Buffer activations share one pool: the
/// largest first, each at the lowest offset free during its life (greedy by size; Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). Image activations share
/// images over time in the same way: each lies in the corner of the free one that has to grow least
/// for it. Inputs and outputs have a pool each, because the host reads and writes
/// them outside the launches.
void assign_pools(Plan* plan);

/// Bytes of all pools: resident from the start of a run to its end.
Bytes pool_bytes(const Plan& plan);

}  // namespace fm
