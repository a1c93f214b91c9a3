#pragma once
// One kernel launch under Oclgrind, from its first work-group to its access program.

#include <memory>
#include <optional>
#include <string>

#include "core/trace.pb.h"
#include "executor/oclgrind_plugin/group_store.hpp"
#include "executor/oclgrind_plugin/work_group_log.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace oclgrind {
class KernelInvocation;
}

namespace fm {

class LaunchRecording {
 public:
  explicit LaunchRecording(const oclgrind::KernelInvocation& invocation);

  const LaunchObjects& objects() const { return objects_; }

  // What Oclgrind reports; once it throws, it must hear no more.
  void begin_group(const oclgrind::WorkGroup& group);
  void begin_item(const oclgrind::WorkItem& item) { group_->begin_item(item); }
  void memory(const oclgrind::WorkItem& item, const oclgrind::Memory& memory, std::size_t address,
              std::size_t bytes, MemoryUse use) {
    group_->memory(item, memory, address, bytes, use);
  }
  void executed(const oclgrind::WorkItem& item, const llvm::Instruction& instruction) {
    group_->executed(item, instruction);
  }
  void end_group() { groups_.add(group_->finish()); }

  /// When all groups have run. Its id is not set, its key is the digest of what it says.
  trace::AccessProgram program();

 private:
  RecordingKernel described() const;

  const oclgrind::KernelInvocation& invocation_;
  const KernelFacts facts_;
  const LaunchShape shape_;
  LaunchObjects objects_;
  GroupStore groups_;
  std::optional<WorkGroupLog> group_;
};

}  // namespace fm
