#pragma once
// A pool as the buffers it is made of: one, or several where the device allows no buffer as large.

#include <vector>

#include "core/plan.hpp"

namespace fm {

/// A buffer that holds some of a pool's tensors, each as a whole.
struct PoolPart {
  Bytes offset;  ///< in the pool
  Bytes bytes;
  std::vector<const PlanTensor*> tensors;
};

/// Parts of a buffer pool, none larger than `limit`. Together they may take more than the pool:
/// tensors that share memory over time may come to lie in different parts. Throws UserError naming
/// a tensor that alone exceeds the limit.
std::vector<PoolPart> parts_of(const Plan& plan, const Pool& pool, Bytes limit);

}  // namespace fm
