#include "kernels/row_broadcast.hpp"

#include <vector>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

struct Run {
  bool kept = false;
  std::int64_t size = 1;
};

/// Runs of leading dimensions, the innermost first; dimensions of size 1 belong to any run.
std::vector<Run> runs_of(const PlanTensor& operand, const PlanTensor& result) {
  std::vector<Run> runs;
  for (std::size_t back = 2; back <= result.shape.size(); ++back) {
    const std::int64_t size = result.shape[result.shape.size() - back];
    const std::int64_t own =
        back <= operand.shape.size() ? operand.shape[operand.shape.size() - back] : 1;
    if (own != 1 && own != size) {
      throw UserError(describe(operand) + " does not broadcast to " + describe(result));
    }
    if (size == 1) continue;
    if (runs.empty() || runs.back().kept != (own == size)) runs.push_back({own == size, 1});
    runs.back().size *= size;
  }
  return runs;
}

}  // namespace

RowBroadcast row_broadcast(const PlanTensor& operand, const PlanTensor& result) {
  if (operand.shape.size() > result.shape.size()) {
    throw UserError(describe(operand) + " does not broadcast to " + describe(result));
  }
  const std::vector<Run> runs = runs_of(operand, result);
  RowBroadcast rows;
  std::size_t at = 0;
  std::int64_t passed = 1;  // rows of the result in the runs gone by
  if (at < runs.size() && runs[at].kept) {
    rows.remainder = passed = runs[at++].size;
    rows.inner = 1;
  }
  if (at < runs.size()) passed *= runs[at++].size;
  if (at < runs.size()) {
    rows.quotient = passed;
    rows.modulus = runs[at++].size;
    rows.outer = rows.remainder;
  }
  if (at + 1 < runs.size()) {  // a broadcast run outside is no matter: the modulus cuts it off
    throw UserError(describe(operand) + " is broadcast to " + describe(result) +
                    " in too many places; expand it first");
  }
  return rows;
}

}  // namespace fm
