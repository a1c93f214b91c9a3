#pragma once
// Which row of an operand belongs to a row of the result when leading dimensions are broadcast.

#include <cstdint>
#include <string>

#include "core/plan.hpp"
#include "kernels/launch_draft.hpp"

namespace fm {

/// Row r of the result takes row r / quotient % modulus * outer + r % remainder * inner of the
/// operand.
struct RowBroadcast {
  std::int64_t quotient = 1, modulus = 1, outer = 0, remainder = 1, inner = 0;
};

/// Leading dimensions (all but the last) of `operand`, aligned at the end with those of `result`;
/// each is 1 or the result's. Serves up to three runs of kept and broadcast dimensions, and
/// broadcast-kept-broadcast-kept. Throws UserError naming both for anything else.
RowBroadcast row_broadcast(const PlanTensor& operand, const PlanTensor& result);

}  // namespace fm
