#include "executor/oclgrind_plugin/function_facts.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/diagnostics.hpp"
#include "executor/oclgrind_plugin/arithmetic_facts.hpp"

namespace fm {
namespace {

using llvm::Instruction;
using Kind = InstructionFacts::Kind;
using trace::Derivation;

constexpr std::size_t most_constants = 16;
constexpr unsigned private_space = 0;

bool begins(const std::string& name, const char* beginning) {
  return name.rfind(beginning, 0) == 0;
}

const llvm::Function* callee_of(const llvm::CallInst& call) {
  if (const llvm::Function* const function = call.getCalledFunction()) return function;
  return llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
}

bool reaches_memory(const llvm::CallInst& call, const std::string& name) {
  const bool accesses = begins(name, "vload") || begins(name, "vstore") || begins(name, "atom") ||
                        begins(name, "llvm.mem");
  if (!accesses) return false;
  return std::any_of(call.arg_begin(), call.arg_end(), [](const llvm::Use& argument) {
    const llvm::Type* const type = argument->getType();
    return type->isPointerTy() && type->getPointerAddressSpace() != private_space;
  });
}

std::optional<Derivation::Operator> operator_of_call(const std::string& name) {
  if (name == "min" || begins(name, "llvm.smin") || begins(name, "llvm.umin")) {
    return Derivation::MINIMUM;
  }
  if (name == "max" || begins(name, "llvm.smax") || begins(name, "llvm.umax")) {
    return Derivation::MAXIMUM;
  }
  return std::nullopt;
}

std::optional<Derivation::Operator> operator_of(const Instruction& instruction) {
  const bool variable = !llvm::isa<llvm::Constant>(instruction.getOperand(1));
  switch (instruction.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
      return Derivation::QUOTIENT;
    case Instruction::URem:
    case Instruction::SRem:
      return Derivation::REMAINDER;
    case Instruction::And:  // with a mask of the lowest or of all but the lowest bits
      if (variable) return std::nullopt;
      return Derivation::REMAINDER;
    case Instruction::LShr:
    case Instruction::AShr:
      return Derivation::SHIFT_RIGHT;
    case Instruction::Shl:
      if (!variable) return std::nullopt;
      return Derivation::SHIFT_LEFT;
    case Instruction::Mul:
      if (!variable || llvm::isa<llvm::Argument>(instruction.getOperand(0)) ||
          llvm::isa<llvm::Argument>(instruction.getOperand(1))) {
        return std::nullopt;
      }
      return Derivation::PRODUCT;
    default:
      return std::nullopt;
  }
}

/// Oclgrind stores a vector put together from elements as a whole, and then each element once more.
/// Returns whether `instruction` is such a store of an element of what `whole` stores.
bool stores_again(const Instruction& instruction, const llvm::StoreInst* whole) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (store == nullptr || whole == nullptr || store->getDebugLoc() != whole->getDebugLoc()) {
    return false;
  }
  const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(store->getPointerOperand());
  return place != nullptr && place == store->getPrevNode() &&
         store->getValueOperand()->getType() ==
             whole->getValueOperand()->getType()->getScalarType();
}

void add_arithmetic(InstructionFacts* facts, trace::ArithmeticKind kind, std::uint32_t count) {
  for (auto& [known, total] : facts->arithmetic) {
    if (known != kind) continue;
    total += count;
    return;
  }
  facts->arithmetic.emplace_back(kind, count);
}

}  // namespace

std::string plain_name(const std::string& mangled) {
  if (!begins(mangled, "_Z")) return mangled;
  std::size_t at = 2, length = 0;
  while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0) {
    length = 10 * length + static_cast<std::size_t>(mangled[at++] - '0');
  }
  return mangled.substr(at, length);
}

KernelFacts::KernelFacts(const llvm::Function& kernel) { kernel_ = &function(kernel); }

bool KernelFacts::describe(const Instruction& instruction, InstructionFacts* facts) {
  switch (instruction.getOpcode()) {
    case Instruction::Load:
    case Instruction::Store: {
      const unsigned space =
          llvm::getLoadStorePointerOperand(&instruction)->getType()->getPointerAddressSpace();
      facts->kind = Kind::memory;
      return space != private_space;
    }
    case Instruction::Br:
    case Instruction::Switch:
      facts->kind = Kind::branch;
      return true;
    case Instruction::Ret:
      facts->kind = Kind::leave;
      return true;
    case Instruction::Call:
      break;
    default: {
      if (!instruction.isBinaryOp() || !instruction.getType()->isIntegerTy()) return false;
      const auto op = operator_of(instruction);
      facts->kind = Kind::derivation;
      if (op) facts->op = *op;
      return op.has_value();
    }
  }
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  const llvm::Function* const callee = callee_of(call);
  if (callee == nullptr) return false;
  if (!callee->isDeclaration()) {
    facts->kind = Kind::call;
    facts->callee = &function(*callee);
    return true;
  }
  const std::string name = plain_name(callee->getName().str());
  if (begins(name, "read_image") || begins(name, "write_image")) {
    facts->kind = Kind::texel;
    facts->write = begins(name, "write_image");
    return true;
  }
  if (name == "barrier" || name == "work_group_barrier") {
    facts->kind = Kind::barrier;
    return true;
  }
  if (begins(name, "async_work_group") || begins(name, "wait_group_events")) {
    throw UserError("it copies asynchronously (" + name + ")");
  }
  facts->kind = Kind::memory;
  if (reaches_memory(call, name)) return true;
  const auto op = operator_of_call(name);
  if (!op || !call.getType()->isIntegerTy()) return false;
  facts->kind = Kind::derivation;
  facts->op = *op;
  return true;
}

void KernelFacts::note_constants(const Instruction& instruction) {
  if (!instruction.isBinaryOp() || constants_.size() >= most_constants) return;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  if (constant == nullptr || constant->getBitWidth() > 64) return;
  const std::int64_t value = constant->getSExtValue();
  if (value > 1 && std::find(constants_.begin(), constants_.end(), value) == constants_.end()) {
    constants_.push_back(value);
  }
}

const FunctionFacts& KernelFacts::function(const llvm::Function& function) {
  auto& known = functions_[&function];
  if (known) return *known;
  known = std::make_unique<FunctionFacts>();
  FunctionFacts& facts = *known;  // stays where it is
  const DataFlow data(function);
  for (const llvm::BasicBlock& block : function) {
    facts.blocks_.emplace(&block, static_cast<std::uint32_t>(facts.blocks_.size()));
  }
  std::vector<FlowBlock> blocks(facts.blocks_.size());
  for (const llvm::BasicBlock& block : function) {
    const std::uint32_t number = facts.blocks_.at(&block);
    FlowBlock& flow = blocks[number];
    InstructionFacts next;
    const llvm::StoreInst* whole = nullptr;  // the last store of a vector
    for (const Instruction& instruction : block) {
      note_constants(instruction);
      if (const auto counted = arithmetic_of(instruction, data)) {
        add_arithmetic(&next, counted->first, counted->second);
        flow.computes = true;
      }
      InstructionFacts described = next;
      if (!describe(instruction, &described)) continue;
      if (stores_again(instruction, whole)) described.kind = Kind::part;
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        if (store->getValueOperand()->getType()->isVectorTy()) whole = store;
      }
      described.id = next_id_++;
      lines_.resize(next_id_);
      if (instruction.getDebugLoc()) lines_.back() = instruction.getDebugLoc().getLine();
      described.block = number;
      const Kind kind = described.kind;
      if (kind == Kind::derivation) {
        described.arithmetic.clear();
      } else {
        next = {};
      }
      flow.accesses = flow.accesses || kind == Kind::memory || kind == Kind::texel ||
                      kind == Kind::barrier || (kind == Kind::call && described.callee->accesses());
      flow.computes = flow.computes || (kind == Kind::call && described.callee->computes());
      instructions_.emplace(&instruction, std::move(described));
    }
    const Instruction* const end = block.getTerminator();
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      flow.successors.push_back(facts.blocks_.at(end->getSuccessor(i)));
    }
    facts.accesses_ = facts.accesses_ || flow.accesses;
    facts.computes_ = facts.computes_ || flow.computes;
  }
  if (next_id_ >= 1U << 19) throw UserError("it has more than 524288 instructions");
  facts.graph_ = std::make_unique<FlowGraph>(std::move(blocks));
  if (!facts.graph_->reducible()) {
    throw UserError("function " + function.getName().str() + " has a cycle with two entries");
  }
  std::vector<const llvm::BasicBlock*> in_order;
  for (const llvm::BasicBlock& block : function) in_order.push_back(&block);
  for (const FlowLoop& loop : facts.graph_->loops()) {
    if (const auto counted = counted_loop(loop, in_order)) {
      facts.counted_.emplace(loop.header, *counted);
    }
    facts.accesses_ = facts.accesses_ || loop.recorded;
  }
  registers_ = std::max(registers_, live_words(function));
  return facts;
}

}  // namespace fm
