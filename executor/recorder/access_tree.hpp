#pragma once
// The static structure of a recorded kernel, merged from the logs of its work-items.

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/trace.pb.h"
#include "executor/recorder/log_format.hpp"

namespace fm {

/// Variables have slots: 0..2 group id, 3..5 local id, then one a loop, derivation and index load.
constexpr std::uint32_t id_slots = 6;

struct TreeNode;

/// A straight sequence of nodes; every visit passes all of them in order.
struct TreeBlock {
  bool visited = false;
  std::vector<std::unique_ptr<TreeNode>> nodes;
};

struct TreeNode {
  RecordKind kind;
  std::uint32_t id = 0;      ///< of the macro in the source
  std::uint32_t detail = 0;  ///< relation, operator, argument or arithmetic kind
  std::uint32_t slot = 0;    ///< variable it defines: loop, derivation, index load
  std::uint32_t first_expression = 0;
  std::int64_t step = 0;           ///< loop
  std::uint32_t count = 0;         ///< arithmetic
  std::uint32_t in_flight = 0;     ///< arithmetic
  std::uint32_t local_array = 0;   ///< local access: static id of the array
  std::uint32_t bytes = 0;         ///< any_memory, any_texel
  std::set<std::int64_t> objects;  ///< any_memory, any_texel: arguments or local arrays reached
  TreeBlock body, otherwise;
};

/// Loops: begin, end. Guards, derivations: left, right. Accesses: x, for images y, and for those of
/// kernels without macros the argument.
std::uint32_t expression_count(RecordKind kind);

struct TreeExpression {
  std::vector<std::uint32_t> scope;  ///< slots visible there, ids first, then outer before inner
};

struct TreeVariable {
  trace::VariableKind kind;
  const TreeNode* node = nullptr;                                 ///< null for ids
  std::int64_t least = std::numeric_limits<std::int64_t>::max();  ///< observed
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
};

struct TreeLocalArray {
  std::uint32_t id = 0;
  std::uint32_t bytes = 0;
  std::uint32_t element_bytes = 0;
  std::string name;
};

struct AccessTree {
  AccessTree();
  TreeBlock root;
  std::vector<TreeVariable> variables;      ///< by slot
  std::vector<TreeExpression> expressions;  ///< by index
  std::vector<TreeLocalArray> local_arrays;
};

}  // namespace fm
