#include "executor/oclgrind_plugin/counted_loop.hpp"

#include <core/WorkItem.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "executor/oclgrind_plugin/branch_decision.hpp"
#include "executor/oclgrind_plugin/function_facts.hpp"

namespace fm {
namespace {

using Predicate = llvm::CmpInst::Predicate;

constexpr int deepest = 8;

/// Sizes of the launch by the name of the function that asks for them.
const std::array<std::uint32_t, 3>* sizes_named(const std::string& name, const LaunchShape& shape) {
  if (name == "get_num_groups") return &shape.groups;
  if (name == "get_local_size") return &shape.local;
  if (name == "get_global_size") return &shape.global;
  return nullptr;
}

/// Value of what is made from constants, arguments and sizes: the same for all work-items of a
/// launch, known before it is computed. None for anything else.
std::optional<std::int64_t> uniform(const llvm::Value* value, const LaunchShape& shape,
                                    const std::function<std::int64_t(const llvm::Value*)>& argument,
                                    int depth = 0) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    return constant->getSExtValue();
  }
  if (llvm::isa<llvm::Argument>(value)) return argument(value);
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || depth == deepest) return std::nullopt;
  const auto operand = [&](unsigned index) {
    return uniform(instruction->getOperand(index), shape, argument, depth + 1);
  };
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(instruction)) {
    if (call->getCalledFunction() == nullptr) return std::nullopt;
    const auto* sizes = sizes_named(plain_name(call->getCalledFunction()->getName().str()), shape);
    if (sizes == nullptr) return std::nullopt;
    const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
    if (dimension == nullptr || dimension->getZExtValue() > 2) return std::nullopt;
    return (*sizes)[dimension->getZExtValue()];
  }
  if (instruction->isCast()) return operand(0);
  if (!instruction->isBinaryOp()) return std::nullopt;
  const auto left = operand(0), right = operand(1);
  if (!left || !right) return std::nullopt;
  switch (instruction->getOpcode()) {
    case llvm::Instruction::Add:
      return *left + *right;
    case llvm::Instruction::Mul:
      return *left * *right;
    case llvm::Instruction::Shl:
      if (*right < 0 || *right > 31) return std::nullopt;
      return *left * (std::int64_t{1} << *right);
    default:
      return std::nullopt;
  }
}

/// What is added to the counter in every iteration.
const llvm::Value* step_of(const llvm::PHINode& counter,
                           const std::function<bool(const llvm::BasicBlock*)>& in_loop) {
  const llvm::Value* step = nullptr;
  for (unsigned i = 0; i < counter.getNumIncomingValues(); ++i) {
    if (!in_loop(counter.getIncomingBlock(i))) continue;
    const auto* add = llvm::dyn_cast<llvm::BinaryOperator>(counter.getIncomingValue(i));
    if (add == nullptr || add->getOpcode() != llvm::Instruction::Add) return nullptr;
    const bool first = add->getOperand(0) == &counter;
    if (!first && add->getOperand(1) != &counter) return nullptr;
    const llvm::Value* const added = add->getOperand(first ? 1 : 0);
    if (step != nullptr && step != added) return nullptr;
    step = added;
  }
  if (step == nullptr || llvm::isa<llvm::Argument>(step)) return step;
  const auto anything = [](const llvm::Value*) { return 1; };
  const std::optional<std::int64_t> value = uniform(step, {}, anything);
  return value && *value > 0 ? step : nullptr;
}

}  // namespace

std::optional<CountedLoop> counted_loop(const FlowLoop& loop,
                                        const std::vector<const llvm::BasicBlock*>& blocks) {
  if (!loop.tested_at_header) return std::nullopt;
  const llvm::BasicBlock& header = *blocks[loop.header];
  const auto in_loop = [&](const llvm::BasicBlock* block) {
    const auto at = std::find(blocks.begin(), blocks.end(), block) - blocks.begin();
    return static_cast<bool>(loop.contains[static_cast<std::size_t>(at)]);
  };
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(header.getTerminator());
  if (branch == nullptr || !branch->isConditional()) return std::nullopt;
  const auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (test == nullptr || test->getParent() != &header) return std::nullopt;
  Predicate predicate = test->getPredicate();
  const llvm::Value *left = test->getOperand(0), *right = test->getOperand(1);
  if (!in_loop(branch->getSuccessor(0))) predicate = llvm::CmpInst::getInversePredicate(predicate);
  const auto is_counter = [&](const llvm::Value* value) {
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
    return phi != nullptr && phi->getParent() == &header;
  };
  if (!is_counter(left)) {
    std::swap(left, right);
    predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  }
  // The bound must be known before the loop.
  const auto* bound = llvm::dyn_cast<llvm::Instruction>(right);
  if (!is_counter(left) || (bound != nullptr && in_loop(bound->getParent()))) return std::nullopt;
  CountedLoop counted;
  counted.counter = llvm::cast<llvm::PHINode>(left);
  counted.bound = right;
  counted.step = step_of(*counted.counter, in_loop);
  counted.inclusive = predicate == Predicate::ICMP_SLE || predicate == Predicate::ICMP_ULE;
  const bool upwards = counted.inclusive || predicate == Predicate::ICMP_SLT ||
                       predicate == Predicate::ICMP_ULT || predicate == Predicate::ICMP_NE;
  if (counted.step == nullptr || !upwards) return std::nullopt;
  return counted;
}

LoopCounter counter_of(const CountedLoop& loop, const llvm::BasicBlock& from,
                       const oclgrind::WorkItem& item, const LaunchShape& shape) {
  const auto argument = [&](const llvm::Value* value) { return signed_value(value, item); };
  return {signed_value(loop.counter->getIncomingValueForBlock(&from), item),
          signed_value(loop.bound, item) + (loop.inclusive ? 1 : 0),
          uniform(loop.step, shape, argument).value_or(0)};
}

}  // namespace fm
