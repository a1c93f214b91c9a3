#include "executor/oclgrind_plugin/branch_decision.hpp"

#include <core/WorkItem.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <string>

#include "core/access_program.hpp"
#include "executor/oclgrind_plugin/function_facts.hpp"

namespace fm {
namespace {

using Predicate = llvm::CmpInst::Predicate;

trace::Relation relation_of(Predicate predicate) {
  switch (predicate) {
    case Predicate::ICMP_EQ:
      return trace::EQ;
    case Predicate::ICMP_NE:
      return trace::NE;
    case Predicate::ICMP_ULT:
    case Predicate::ICMP_SLT:
      return trace::LT;
    case Predicate::ICMP_ULE:
    case Predicate::ICMP_SLE:
      return trace::LE;
    case Predicate::ICMP_UGT:
    case Predicate::ICMP_SGT:
      return trace::GT;
    default:
      return trace::GE;
  }
}

/// What an unsigned comparison may treat as signed.
bool never_negative(const llvm::Value* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    return !constant->isNegative();
  }
  if (llvm::isa<llvm::ZExtInst>(value)) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  if (call == nullptr || call->getCalledFunction() == nullptr) return false;
  return plain_name(call->getCalledFunction()->getName().str()).rfind("get_", 0) == 0;
}

/// Both operands of a logical `and` or `or` of conditions.
struct Logical {
  const llvm::Value *first, *second;
  bool both;  ///< and
};

std::optional<Logical> logical(const llvm::Value* value) {
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value)) {
    const bool both = binary->getOpcode() == llvm::Instruction::And;
    if (both || binary->getOpcode() == llvm::Instruction::Or) {
      return Logical{binary->getOperand(0), binary->getOperand(1), both};
    }
  }
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(value);
  if (select == nullptr || !select->getCondition()->getType()->isIntegerTy(1)) return std::nullopt;
  const auto* taken = llvm::dyn_cast<llvm::ConstantInt>(select->getTrueValue());
  const auto* other = llvm::dyn_cast<llvm::ConstantInt>(select->getFalseValue());
  if (other != nullptr && other->isZero()) {
    return Logical{select->getCondition(), select->getTrueValue(), true};
  }
  if (taken != nullptr && taken->isOne()) {
    return Logical{select->getCondition(), select->getFalseValue(), false};
  }
  return std::nullopt;
}

class Explanation {
 public:
  explicit Explanation(const oclgrind::WorkItem& item) : item_(item) {}

  /// Guards that end on the side of `outcome`.
  void explain(const llvm::Value* condition, bool outcome) {
    if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
      if (compare->getOperand(0)->getType()->isIntegerTy()) return explain(*compare, outcome);
    }
    if (const auto parts = logical(condition)) return explain(*parts, outcome);
    opaque(outcome);
  }

  void add(const Comparison& comparison) { decision_.guards.push_back(comparison); }
  Decision take() { return std::move(decision_); }

 private:
  void opaque(bool outcome) { add({outcome, trace::NE, 0}); }

  void explain(const Logical& parts, bool outcome) {
    // `and` is false, `or` true, by its first operand or by its second.
    const bool first = item_.getOperand(parts.first).getUInt() != 0;
    const bool by_first = outcome != parts.both && first == outcome;
    explain(parts.first, by_first ? outcome : parts.both);
    if (!by_first) explain(parts.second, outcome);
  }

  void explain(const llvm::ICmpInst& compare, bool outcome) {
    const llvm::Value *left = compare.getOperand(0), *right = compare.getOperand(1);
    Comparison seen{signed_value(left, item_), relation_of(compare.getPredicate()),
                    signed_value(right, item_)};
    if (compare.isUnsigned()) {
      for (const auto& [value, number] : {std::pair{left, seen.left}, {right, seen.right}}) {
        if (never_negative(value)) continue;
        add({number, trace::GE, 0});
        if (number < 0) return opaque(outcome);
      }
    }
    // Operands may have changed since the comparison.
    if (holds(seen.left, seen.relation, seen.right) != outcome) {
      seen.right = seen.left;
      if (holds(0, seen.relation, 0) != outcome) {
        const bool less = seen.relation == trace::LT || seen.relation == trace::LE;
        seen.right += (less == outcome) || seen.relation == trace::NE ? 1 : -1;
      }
    }
    add(seen);
  }

  const oclgrind::WorkItem& item_;
  Decision decision_;
};

}  // namespace

std::int64_t signed_value(const llvm::Value* value, const oclgrind::WorkItem& item) {
  return item.getOperand(value).getSInt();
}

BranchDecision branch_decision(const llvm::Instruction& branch, const oclgrind::WorkItem& item,
                               bool explained) {
  Explanation explanation(item);
  BranchDecision result;
  if (const auto* jump = llvm::dyn_cast<llvm::BranchInst>(&branch)) {
    if (jump->isUnconditional()) return {jump->getSuccessor(0), {}};
    const bool outcome = item.getOperand(jump->getCondition()).getUInt() != 0;
    result.to = jump->getSuccessor(outcome ? 0 : 1);
    if (explained) explanation.explain(jump->getCondition(), outcome);
  } else {
    const auto& choice = llvm::cast<llvm::SwitchInst>(branch);
    const std::int64_t value = signed_value(choice.getCondition(), item);
    result.to = choice.getDefaultDest();
    for (const auto& one : choice.cases()) {
      const std::int64_t number = one.getCaseValue()->getSExtValue();
      explanation.add({value, trace::EQ, number});
      if (value != number) continue;
      result.to = one.getCaseSuccessor();
      break;
    }
  }
  result.decision = explanation.take();
  return result;
}

}  // namespace fm
