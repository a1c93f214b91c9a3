#include "executor/pool_parts.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"
#include "executor/plan_names.hpp"

namespace fm {
namespace {

Bytes end_of(const PlanTensor& tensor) { return tensor.offset + tensor.bytes; }

void check_size(const PlanTensor& tensor, Bytes limit) {
  if (tensor.bytes <= limit) return;
  throw UserError(
      "allocation too large for the device: " + named(tensor) + " takes " +
      std::to_string(tensor.bytes.count()) + " bytes, but the device allows at most " +
      std::to_string(limit.count()) +
      " bytes in one object (CL_DEVICE_MAX_MEM_ALLOC_SIZE); store it in half with `fmplan "
      "--storage f16`, plan for a smaller input with --shape, or choose another device "
      "with --device");
}

/// By where they begin.
std::vector<const PlanTensor*> tensors_in(const Plan& plan, const Pool& pool) {
  std::vector<const PlanTensor*> tensors;
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.pool == pool.id) tensors.push_back(&tensor);
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const PlanTensor* a, const PlanTensor* b) { return a->offset < b->offset; });
  return tensors;
}

}  // namespace

std::vector<PoolPart> parts_of(const Plan& plan, const Pool& pool, Bytes limit) {
  std::vector<const PlanTensor*> left = tensors_in(plan, pool);
  if (pool.bytes <= limit) return {{Bytes(0), pool.bytes, left}};
  std::vector<PoolPart> parts;
  while (!left.empty()) {
    PoolPart part{left.front()->offset, Bytes(0), {}};
    std::vector<const PlanTensor*> beyond;
    for (const PlanTensor* tensor : left) {
      check_size(*tensor, limit);
      if (end_of(*tensor) - part.offset > limit) {
        beyond.push_back(tensor);
        continue;
      }
      part.tensors.push_back(tensor);
      part.bytes = std::max(part.bytes, end_of(*tensor) - part.offset);
    }
    parts.push_back(std::move(part));
    left = std::move(beyond);
  }
  return parts;
}

}  // namespace fm
