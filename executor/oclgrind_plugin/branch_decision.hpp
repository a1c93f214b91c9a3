#pragma once
// Why a branch went where it did: the comparisons behind its condition, with their operands.

#include <cstdint>

#include "executor/oclgrind_plugin/item_log_writer.hpp"

namespace llvm {
class BasicBlock;
class Instruction;
class Value;
}  // namespace llvm
namespace oclgrind {
class WorkItem;
}

namespace fm {

struct BranchDecision {
  const llvm::BasicBlock* to = nullptr;
  Decision decision;
};

/// Of a branch or switch that the work-item has just executed. `explained`: with its comparisons.
BranchDecision branch_decision(const llvm::Instruction& branch, const oclgrind::WorkItem& item,
                               bool explained);

/// Value of a scalar integer, sign-extended.
std::int64_t signed_value(const llvm::Value* value, const oclgrind::WorkItem& item);

}  // namespace fm
