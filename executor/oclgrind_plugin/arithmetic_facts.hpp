#pragma once
// Arithmetic of LLVM code as traces count it.

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/trace.pb.h"

namespace llvm {
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace fm {

/// Integer operations count where they compute with data: on loaded values, or for stored ones.
/// What only makes addresses and loop counters does not.
class DataFlow {
 public:
  explicit DataFlow(const llvm::Function& function);
  bool on_data(const llvm::Instruction* instruction) const;

 private:
  std::unordered_set<const llvm::Value*> from_loads_, into_stores_;
};

/// Kind and scalar operations of an instruction, if it counts.
std::optional<std::pair<trace::ArithmeticKind, std::uint32_t>> arithmetic_of(
    const llvm::Instruction& instruction, const DataFlow& data);

/// 32-bit values alive at once in a function, at most: what its registers hold.
std::uint32_t live_words(const llvm::Function& function);

}  // namespace fm
