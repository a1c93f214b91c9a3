#pragma once
// Which launches must have finished before another starts.

#include "core/plan.hpp"

namespace fm {

/// Fills `depends` of every launch: the writers of what it reads, the earlier writer of what it
/// writes, the copies and streaming kernels that bring its weights, and the users of tensors whose
/// bytes it takes over in a pool. Launches implied by others are left out.
void set_dependencies(Plan* plan);

}  // namespace fm
