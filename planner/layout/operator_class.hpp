#pragma once
// Which operators care how their input lies, and which may choose how their output lies (SmartMem
// section 3.1, tables 3 to 6): what decides between keeping, fusing and eliminating an operator.

#include <string>

#include "core/graph.hpp"

namespace fm {

/// ILD/ILI: speed depends on the input's layout, or not. Variable/fixed: the output may be stored
/// in any layout, or the operator itself says where each element goes.
enum class LayoutClass {
  dependent_variable,
  independent_variable,
  dependent_fixed,
  independent_fixed
};
std::string to_string(LayoutClass layout_class);  ///< "ILD-Variable", ..

/// What becomes of two operators, one reading the other.
enum class PairAction { keep_both, try_fuse, eliminate_second, eliminate_first, eliminate_both };
std::string to_string(PairAction action);

/// Whose layouts the planner searches for a pair that stays.
enum class LayoutSearch { none, both, fused, survivor };

/// By operator; elementwise operators are ILI-Variable, unless operands are broadcast against each
/// other along the packed dimension, which makes them read at other places than they write
/// (`broadcasts`). Operators of one dimension order only (Concat, Pad, ..) count as movement: their
/// output is fixed.
LayoutClass layout_class(const std::string& operation, bool broadcasts = false);
LayoutClass layout_class(const Graph& graph, const GraphNode& node);

/// Table 5.
PairAction pair_action(LayoutClass first, LayoutClass second);
/// Table 6.
LayoutSearch layout_search(LayoutClass first, LayoutClass second);

/// The operator only says where elements are: it can be eliminated by index comprehension.
bool is_movement(const std::string& operation);

}  // namespace fm
