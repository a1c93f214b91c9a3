#include "executor/oclgrind_plugin/arithmetic_facts.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/oclgrind_plugin/function_facts.hpp"

namespace fm {
namespace {

using llvm::Instruction;

std::uint32_t elements(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

std::uint32_t words(const llvm::Type* type) {
  const std::uint32_t bits = type->getScalarSizeInBits();
  const std::uint32_t scalar = type->isPtrOrPtrVectorTy() ? 2 : bits == 1 ? 0 : (bits + 31) / 32;
  return scalar * elements(type);
}

bool passes_data(const Instruction& instruction) {
  return instruction.isBinaryOp() || instruction.isCast() || instruction.isShift() ||
         llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::ExtractElementInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst, llvm::CallInst>(instruction);
}

bool loads(const Instruction& instruction) {
  if (llvm::isa<llvm::LoadInst>(instruction)) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->getCalledFunction() == nullptr) return false;
  const std::string name = plain_name(call->getCalledFunction()->getName().str());
  return name.rfind("vload", 0) == 0 || name.rfind("read_image", 0) == 0 ||
         name.rfind("atom", 0) == 0;
}

bool starts_with_any(const std::string& name, std::initializer_list<const char*> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const char* beginning) { return name.rfind(beginning, 0) == 0; });
}

trace::ArithmeticKind kind_of_call(const std::string& name) {
  if (starts_with_any(name, {"llvm.fmuladd", "llvm.fma.", "fma", "mad", "dot", "mix"}) &&
      !starts_with_any(name, {"fmax"})) {
    return trace::FMA;
  }
  if (starts_with_any(name, {"convert_", "as_"})) return trace::CONVERT;
  if (starts_with_any(name, {"fmin", "fmax", "min", "max", "clamp", "fabs", "abs", "step", "floor",
                             "ceil", "round", "rint", "trunc", "sign", "select", "is", "llvm."})) {
    return trace::ADD;
  }
  return trace::SPECIAL;
}

std::optional<trace::ArithmeticKind> kind_of(const Instruction& instruction, const DataFlow& data) {
  switch (instruction.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FNeg:
    case Instruction::FCmp:
      return trace::ADD;
    case Instruction::FDiv:
    case Instruction::FRem:
      return trace::SPECIAL;
    case Instruction::FPExt:
    case Instruction::FPTrunc:
    case Instruction::FPToSI:
    case Instruction::FPToUI:
    case Instruction::SIToFP:
    case Instruction::UIToFP:
      return trace::CONVERT;
    default:
      break;
  }
  if (instruction.isBinaryOp() && data.on_data(&instruction)) return trace::INTEGER;
  return std::nullopt;
}

}  // namespace

DataFlow::DataFlow(const llvm::Function& function) {
  std::vector<const Instruction*> back;
  const auto stored = [&](const llvm::Value* value) {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction != nullptr && into_stores_.insert(value).second) back.push_back(instruction);
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (const llvm::BasicBlock& block : function) {
      for (const Instruction& instruction : block) {
        bool data = loads(instruction);
        if (!data && passes_data(instruction)) {
          data = std::any_of(instruction.op_begin(), instruction.op_end(),
                             [&](const llvm::Use& use) { return from_loads_.count(use) != 0; });
        }
        grown = (data && from_loads_.insert(&instruction).second) || grown;
        if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
          stored(store->getValueOperand());
        }
      }
    }
  }
  while (!back.empty()) {
    const Instruction* const instruction = back.back();
    back.pop_back();
    if (!passes_data(*instruction) || llvm::isa<llvm::CallInst>(instruction)) continue;
    for (const llvm::Use& operand : instruction->operands()) stored(operand);
  }
}

bool DataFlow::on_data(const Instruction* instruction) const {
  return from_loads_.count(instruction) != 0 || into_stores_.count(instruction) != 0;
}

std::optional<std::pair<trace::ArithmeticKind, std::uint32_t>> arithmetic_of(
    const Instruction& instruction, const DataFlow& data) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call != nullptr) {
    const llvm::Function* const callee = call->getCalledFunction();
    const bool floats = call->getType()->isFPOrFPVectorTy();
    if (callee == nullptr || !callee->isDeclaration() || !floats || loads(instruction)) return {};
    const std::uint32_t count =
        std::max(elements(call->getType()), elements(call->getArgOperand(0)->getType()));
    return std::pair{kind_of_call(plain_name(callee->getName().str())), count};
  }
  const auto kind = kind_of(instruction, data);
  if (!kind) return {};
  return std::pair{*kind, elements(instruction.getType())};
}

std::uint32_t live_words(const llvm::Function& function) {
  using Values = std::unordered_set<const llvm::Value*>;
  const auto held = [](const llvm::Value* value) {
    return llvm::isa<Instruction>(value) && words(value->getType()) > 0;
  };
  std::unordered_map<const llvm::BasicBlock*, Values> live_in;
  std::uint32_t most = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = function.getBasicBlockList().rbegin();
         block != function.getBasicBlockList().rend(); ++block) {
      Values live;
      const Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        const Values& next = live_in[end->getSuccessor(i)];
        live.insert(next.begin(), next.end());
        for (const llvm::PHINode& phi : end->getSuccessor(i)->phis()) {
          const llvm::Value* const value = phi.getIncomingValueForBlock(&*block);
          if (held(value)) live.insert(value);
        }
      }
      std::uint32_t now = 0;
      for (const llvm::Value* value : live) now += words(value->getType());
      for (auto at = block->rbegin(); at != block->rend(); ++at) {
        if (live.erase(&*at) != 0) now -= words(at->getType());
        if (llvm::isa<llvm::PHINode>(*at)) continue;
        for (const llvm::Use& use : at->operands()) {
          if (held(use) && live.insert(use).second) now += words(use->getType());
        }
        most = std::max(most, now);
      }
      Values& known = live_in[&*block];
      changed = changed || known != live;
      known = std::move(live);
    }
  }
  return most;
}

}  // namespace fm
