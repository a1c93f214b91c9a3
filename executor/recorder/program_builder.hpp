#pragma once
// From the tree and its fits to the trace's access program.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/trace.pb.h"
#include "executor/recorder/expression_fit.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace fm {

/// Expressions that accesses, guards and loops need, directly or through derivations; the others (a
/// derivation nobody uses) are left out of the program.
std::set<std::uint32_t> needed_expressions(const AccessTree& tree, const ExpressionFits& fits);

/// Values of the expressions that nothing fits, in the order of ExplicitTable.
struct RecordedTable {
  std::vector<std::uint32_t> counts;
  std::vector<std::int64_t> values;
};
using RecordedTables = std::map<std::uint32_t, RecordedTable>;  // by expression

/// Everything but the numbers of groups. Offsets become bytes by the arguments' types.
trace::AccessProgram build_program(const AccessTree& tree, const ExpressionFits& fits,
                                   const RecordedTables& tables, const RecordingKernel& kernel);

}  // namespace fm
