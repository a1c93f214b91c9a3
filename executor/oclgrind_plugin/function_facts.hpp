#pragma once
// What a recording needs to know of a kernel's LLVM code before it runs.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/trace.pb.h"
#include "executor/oclgrind_plugin/counted_loop.hpp"
#include "executor/oclgrind_plugin/flow_graph.hpp"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
}  // namespace llvm

namespace fm {

class FunctionFacts;

struct InstructionFacts {
  /// part: its accesses belong to those of an instruction before it.
  enum class Kind { memory, part, texel, barrier, call, leave, branch, derivation };
  Kind kind = Kind::memory;
  std::uint32_t id = 0;     ///< among the launch's instructions
  std::uint32_t block = 0;  ///< of its function
  bool write = false;       ///< texel
  trace::Derivation::Operator op = trace::Derivation::QUOTIENT;
  const FunctionFacts* callee = nullptr;
  /// Scalar operations between the access, call or branch before it in the block and this.
  std::vector<std::pair<trace::ArithmeticKind, std::uint32_t>> arithmetic;
};

class FunctionFacts {
 public:
  const FlowGraph& graph() const { return *graph_; }
  std::uint32_t block(const llvm::BasicBlock* block) const { return blocks_.at(block); }
  /// How the loop with that header counts; null where it does not.
  const CountedLoop* counted_loop(std::uint32_t header) const {
    const auto found = counted_.find(header);
    return found == counted_.end() ? nullptr : &found->second;
  }
  bool accesses() const { return accesses_; }
  bool computes() const { return computes_; }

 private:
  friend class KernelFacts;
  std::unordered_map<const llvm::BasicBlock*, std::uint32_t> blocks_;
  std::unique_ptr<FlowGraph> graph_;
  std::unordered_map<std::uint32_t, CountedLoop> counted_;  // by header
  bool accesses_ = false;                                   ///< or loops that are recorded
  bool computes_ = false;
};

/// A kernel and the functions it calls.
class KernelFacts {
 public:
  /// Throws UserError for what no recording can describe.
  explicit KernelFacts(const llvm::Function& kernel);
  const FunctionFacts& kernel() const { return *kernel_; }
  /// Null for instructions that nothing is recorded of.
  const InstructionFacts* find(const llvm::Instruction* instruction) const {
    const auto found = instructions_.find(instruction);
    return found == instructions_.end() ? nullptr : &found->second;
  }
  /// Integer constants of its index arithmetic: candidates for divisors.
  const std::vector<std::int64_t>& constants() const { return constants_; }
  /// Lines of the source by id of the instruction; 0 where it is not known.
  const std::vector<std::uint32_t>& lines() const { return lines_; }
  /// 32-bit values alive at once, at most.
  std::uint32_t registers() const { return registers_; }

 private:
  const FunctionFacts& function(const llvm::Function& function);
  bool describe(const llvm::Instruction& instruction, InstructionFacts* facts);
  void note_constants(const llvm::Instruction& instruction);

  std::unordered_map<const llvm::Function*, std::unique_ptr<FunctionFacts>> functions_;
  std::unordered_map<const llvm::Instruction*, InstructionFacts> instructions_;
  std::vector<std::int64_t> constants_;
  std::vector<std::uint32_t> lines_;
  const FunctionFacts* kernel_ = nullptr;
  std::uint32_t next_id_ = 0, registers_ = 0;
};

/// "vload4" of "_Z6vload4mPU3AS1Kf"; other names as they are.
std::string plain_name(const std::string& mangled);

}  // namespace fm
