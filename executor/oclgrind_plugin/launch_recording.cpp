#include "executor/oclgrind_plugin/launch_recording.hpp"

#include <core/Kernel.h>
#include <core/KernelInvocation.h>
#include <core/WorkGroup.h>
#include <llvm/IR/Argument.h>
#include <llvm/IR/Function.h>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "executor/recorder/access_recording.hpp"
#include "executor/recorder/guard_folding.hpp"
#include "executor/recorder/recording_kernel.hpp"

namespace fm {
namespace {

std::array<std::uint32_t, 3> narrow(const oclgrind::Size3& sizes) {
  return {static_cast<std::uint32_t>(sizes.x), static_cast<std::uint32_t>(sizes.y),
          static_cast<std::uint32_t>(sizes.z)};
}

LaunchShape shape_of(const oclgrind::KernelInvocation& invocation) {
  return {narrow(invocation.getGlobalSize()), narrow(invocation.getLocalSize()),
          narrow(invocation.getNumGroups())};
}

constexpr const char* registers_source =
    "estimated: values alive at once in LLVM's code, every one in registers of its own";

/// A Mali gives a work-item 32 or 64 registers, an Adreno's vary by fours.
void set_registers(std::uint32_t live, RecordingKernel* kernel) {
  kernel->registers["valhall"] = kernel->registers["bifrost"] = live <= 32 ? 32 : 64;
  kernel->registers["adreno"] = std::max(4U, (live + 3) / 4 * 4);
  kernel->registers_source = registers_source;
}

}  // namespace

LaunchRecording::LaunchRecording(const oclgrind::KernelInvocation& invocation)
    : invocation_(invocation),
      facts_(*invocation.getKernel()->getFunction()),
      shape_(shape_of(invocation)),
      objects_(invocation),
      groups_(shape_.local, shape_.groups) {}

void LaunchRecording::begin_group(const oclgrind::WorkGroup& group) {
  if (!group_) {
    group_.emplace(shape_, facts_, objects_, LaunchObjects::local_arrays(invocation_, group));
  }
  group_->begin(narrow(group.getGroupID()));
}

RecordingKernel LaunchRecording::described() const {
  RecordingKernel kernel;
  const oclgrind::Kernel& launched = *invocation_.getKernel();
  kernel.name = launched.getName();
  kernel.local_size = shape_.local;
  kernel.group_count = shape_.groups;
  kernel.parameters = facts_.constants();
  kernel.lines = facts_.lines();
  for (auto value = launched.values_begin(); value != launched.values_end(); ++value) {
    const auto* argument = llvm::dyn_cast<llvm::Argument>(value->first);
    if (argument == nullptr || !argument->getType()->isIntegerTy()) continue;
    const std::int64_t number = value->second.getSInt();
    if (number == static_cast<std::int32_t>(number)) {
      kernel.arguments.emplace_back(IntArgument{static_cast<std::int32_t>(number)});
    }
  }
  set_registers(facts_.registers(), &kernel);
  return kernel;
}

trace::AccessProgram LaunchRecording::program() {
  if (!groups_.complete()) throw UserError("not all of its work-groups ended");
  trace::AccessProgram program = record_accesses(described(), groups_, Groups::all);
  fold_guards(&program);
  program.clear_registers();
  const std::string contents = program.SerializeAsString();
  program.set_key(digest_of(contents));
  const RecordingKernel kernel = described();
  program.mutable_registers()->insert(kernel.registers.begin(), kernel.registers.end());
  return program;
}

}  // namespace fm
