#pragma once
// Loops that count up to a bound: for (i = begin; i < end; i += step).

#include <optional>
#include <vector>

#include "executor/oclgrind_plugin/item_log_writer.hpp"
#include "executor/oclgrind_plugin/launch_shape.hpp"

namespace llvm {
class BasicBlock;
class PHINode;
class Value;
}  // namespace llvm
namespace oclgrind {
class WorkItem;
}

namespace fm {

struct CountedLoop {
  const llvm::PHINode* counter = nullptr;
  const llvm::Value *bound = nullptr, *step = nullptr;
  bool inclusive = false;  ///< up to the bound itself
};

/// `blocks`: in the order of the graph. None where the loop is of another kind: then its iterations
/// are numbered.
std::optional<CountedLoop> counted_loop(const FlowLoop& loop,
                                        const std::vector<const llvm::BasicBlock*>& blocks);

/// As the work-item enters the loop from the end of `from`.
LoopCounter counter_of(const CountedLoop& loop, const llvm::BasicBlock& from,
                       const oclgrind::WorkItem& item, const LaunchShape& shape);

}  // namespace fm
