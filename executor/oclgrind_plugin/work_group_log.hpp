#pragma once
// The logs of the work-group that Oclgrind runs just now.

#include <array>
#include <cstdint>
#include <vector>

#include "executor/oclgrind_plugin/function_facts.hpp"
#include "executor/oclgrind_plugin/item_log_writer.hpp"
#include "executor/oclgrind_plugin/launch_objects.hpp"
#include "executor/oclgrind_plugin/launch_shape.hpp"
#include "executor/recorder/group_log.hpp"

namespace oclgrind {
class Memory;
class WorkGroup;
class WorkItem;
}  // namespace oclgrind

namespace fm {

enum class MemoryUse { load, store, atomic };

class WorkGroupLog {
 public:
  /// All must outlive it.
  WorkGroupLog(const LaunchShape& shape, const KernelFacts& facts, LaunchObjects& objects,
               std::vector<LaunchObjects::LocalArray> local_arrays);

  void begin(GroupId group) { group_ = group; }
  void begin_item(const oclgrind::WorkItem& item);
  void memory(const oclgrind::WorkItem& item, const oclgrind::Memory& memory, std::size_t address,
              std::size_t bytes, MemoryUse use);
  void executed(const oclgrind::WorkItem& item, const llvm::Instruction& instruction);
  /// When all its work-items have returned.
  GroupLog finish();

 private:
  struct Frame {
    const FunctionFacts* function;
    bool counted;  ///< its arithmetic
  };
  struct Item {
    ItemLogWriter log;
    std::vector<Frame> frames;
    std::vector<LoggedMemory> pending;  ///< of the instruction under way
    std::uint32_t bounds = 0;           ///< guards around it, of launches with smaller groups
    std::size_t counted = 0;            ///< words of its log that are part of words_
    bool ran = false;
  };

  Item& at(const oclgrind::WorkItem& item);
  void count_words(Item& item);
  void bound(Item& item, std::array<std::uint32_t, 3> local);
  void log_accesses(Item& item, const InstructionFacts& facts);
  void log_texel(Item& item, const oclgrind::WorkItem& running,
                 const llvm::Instruction& instruction, const InstructionFacts& facts);
  void log_derivation(Item& item, const oclgrind::WorkItem& running,
                      const llvm::Instruction& instruction, const InstructionFacts& facts);
  void log_branch(Item& item, const oclgrind::WorkItem& running,
                  const llvm::Instruction& instruction, const InstructionFacts& facts);

  const LaunchShape& shape_;
  const KernelFacts& facts_;
  LaunchObjects& objects_;
  const std::vector<LaunchObjects::LocalArray> local_arrays_;
  GroupId group_{};
  std::vector<Item> items_;
  std::size_t words_ = 0;  ///< of all logs, up to the items' last branches
};

}  // namespace fm
