#pragma once
// The ONNX operators the planner knows: arity, and the resolver that infers shapes and brings a
// node to one form whatever its opset. docs/operators.md lists them for users.

#include <map>
#include <string>
#include <vector>

#include "planner/node_context.hpp"

namespace fm {

/// Checks the node, moves constant inputs that are parameters into attributes, may rename the
/// operation (Squeeze -> Reshape), and returns the facts of the outputs. Throws UserError.
using Resolver = std::vector<TensorFacts> (*)(NodeContext&);

struct OperatorSpec {
  std::size_t minimum_inputs = 1;
  std::size_t maximum_inputs = 1;
  Resolver resolve = nullptr;
  /// Only computable while planning (shape arithmetic): its inputs must all be constants.
  bool folded_only = false;
};

using OperatorTable = std::map<std::string, OperatorSpec>;
const OperatorTable& operator_table();

// The table's parts, one a file.
void add_elementwise_operators(OperatorTable* table);  ///< resolve_elementwise.cpp
void add_movement_operators(OperatorTable* table);     ///< resolve_movement.cpp
void add_selection_operators(OperatorTable* table);    ///< resolve_selection.cpp
void add_spatial_operators(OperatorTable* table);      ///< resolve_spatial.cpp
void add_contraction_operators(OperatorTable* table);  ///< resolve_contraction.cpp

}  // namespace fm
