// libfmtrace_oclgrind.so: FM_TRACE_FILE=app.trace oclgrind --plugins libfmtrace_oclgrind.so app
// records what a program asks of OpenCL and what its kernels access (docs/recorders.md).
#include <core/Context.h>
#include <core/Kernel.h>
#include <core/KernelInvocation.h>
#include <core/Memory.h>
#include <core/Plugin.h>
#include <core/WorkGroup.h>
#include <core/WorkItem.h>

#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "executor/oclgrind_plugin/host_memory.hpp"
#include "executor/oclgrind_plugin/launch_recording.hpp"
#include "executor/recorder_layer/recording.hpp"

namespace fm {
namespace {

constexpr const char* tool = "fmtrace_oclgrind";

/// Access programs already in the trace. Launches with equal accesses share one.
class WrittenPrograms {
 public:
  static WrittenPrograms& instance() {
    static auto* const programs = new WrittenPrograms;
    return *programs;
  }
  std::uint32_t id(ApiRecorder& recorder, trace::AccessProgram program) {
    const auto [known, added] =
        ids_.emplace(program.key(), static_cast<std::uint32_t>(ids_.size() + 1));
    if (added) {
      program.set_id(known->second);
      recorder.add_access_program(program);
    }
    return known->second;
  }

 private:
  std::map<std::string, std::uint32_t> ids_;
};

/// The contexts that are still there when the process ends.
std::set<HostMemory*>& open_contexts() {
  static auto* const contexts = new std::set<HostMemory*>;
  return *contexts;
}

std::string next_launch_name() {
  static std::uint64_t launches = 0;
  return "K" + std::to_string(launches++);
}

class AccessRecorder : public oclgrind::Plugin {
 public:
  explicit AccessRecorder(const oclgrind::Context* context) : Plugin(context) {
    record([&](ApiRecorder& recorder) {
      recorder.describe_device({{"name", "Oclgrind"}, {"driver", "21.10"}});
      host_ = std::make_unique<HostMemory>(recorder);
      open_contexts().insert(host_.get());
    });
  }
  ~AccessRecorder() override {
    open_contexts().erase(host_.get());
    on_host([](HostMemory& host) { host.finish(); });
  }

  bool isThreadSafe() const override { return false; }

  // ---- the host program ----

  void memoryAllocated(const oclgrind::Memory* memory, std::size_t address, std::size_t size,
                       cl_mem_flags flags, const std::uint8_t* contents) override {
    if (!global(memory)) return;
    const bool filled = contents != nullptr && (flags & CL_MEM_USE_HOST_PTR) == 0;
    on_host([&](HostMemory& host) { host.allocated(address, size, filled); });
  }
  void memoryDeallocated(const oclgrind::Memory* memory, std::size_t address) override {
    if (global(memory)) on_host([&](HostMemory& host) { host.freed(address); });
  }
  void hostMemoryLoad(const oclgrind::Memory* memory, std::size_t address,
                      std::size_t size) override {
    on_host([&](HostMemory& host) { host.load(*memory, address, size); });
  }
  void hostMemoryStore(const oclgrind::Memory* memory, std::size_t address, std::size_t size,
                       const std::uint8_t* data) override {
    on_host([&](HostMemory& host) { host.store(*memory, address, size, data); });
  }
  void memoryMap(const oclgrind::Memory* memory, std::size_t address, std::size_t offset,
                 std::size_t size, cl_map_flags flags) override {
    on_host([&](HostMemory& host) { host.map(*memory, address + offset, size, flags); });
  }
  void memoryUnmap(const oclgrind::Memory*, std::size_t address, const void* pointer) override {
    on_host([&](HostMemory& host) { host.unmap(address, pointer); });
  }

  // ---- launches ----

  void kernelBegin(const oclgrind::KernelInvocation* invocation) override {
    failure_.clear();
    objects_.reset();
    if (Recording::recorder() == nullptr) return;
    objects_ = std::make_unique<LaunchObjects>(*invocation);
    attempt([&] { launch_ = std::make_unique<LaunchRecording>(*invocation); });
  }

  void kernelEnd(const oclgrind::KernelInvocation* invocation) override {
    on_host([&](HostMemory& host) {
      trace::Launch launch;
      launch.set_launch(next_launch_name());
      describe(*invocation, launch.mutable_kernel());
      if (launch_) {
        attempt([&] {
          launch.set_program(
              WrittenPrograms::instance().id(*Recording::recorder(), launch_->program()));
        });
      }
      host.launch(launch, launch_ ? launch_->objects() : *objects_);
      if (!failure_.empty()) {
        Recording::recorder()->leave_out("accesses of launches of kernel " +
                                         launch.kernel().name() + ": " + failure_);
      }
    });
    launch_.reset();
    failed_.reset();
  }

  void workGroupBegin(const oclgrind::WorkGroup* group) override {
    on_launch([&](LaunchRecording& launch) { launch.begin_group(*group); });
  }
  void workGroupComplete(const oclgrind::WorkGroup*) override {
    on_launch([](LaunchRecording& launch) { launch.end_group(); });
  }
  void workItemBegin(const oclgrind::WorkItem* item) override {
    on_launch([&](LaunchRecording& launch) { launch.begin_item(*item); });
  }
  void instructionExecuted(const oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                           const oclgrind::TypedValue&) override {
    on_launch([&](LaunchRecording& launch) { launch.executed(*item, *instruction); });
  }
  void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem* item,
                  std::size_t address, std::size_t size) override {
    access(memory, item, address, size, MemoryUse::load);
  }
  void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkItem* item,
                   std::size_t address, std::size_t size, const std::uint8_t*) override {
    access(memory, item, address, size, MemoryUse::store);
  }
  /// A store belongs to it, or, where a comparison fails, none.
  void memoryAtomicLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem* item,
                        oclgrind::AtomicOp, std::size_t address, std::size_t size) override {
    access(memory, item, address, size, MemoryUse::atomic);
  }
  using oclgrind::Plugin::memoryLoad;
  using oclgrind::Plugin::memoryStore;

 private:
  bool global(const oclgrind::Memory* memory) const {
    return memory->getAddressSpace() == oclgrind::AddrSpaceGlobal;
  }

  template <class Body>
  void on_host(const Body& body) {
    if (host_) record([&](ApiRecorder&) { body(*host_); });
  }

  /// What goes wrong costs this launch its accesses.
  template <class Body>
  void attempt(const Body& body) {
    try {
      body();
    } catch (const std::exception& error) {
      give_up(error.what());
    } catch (const oclgrind::FatalError& error) {  // no std::exception to others
      give_up(error.what());
    }
  }
  void give_up(const std::string& why) {
    failure_ = why;
    failed_ = std::move(launch_);
  }
  template <class Body>
  void on_launch(const Body& body) {
    if (!launch_) return;
    LaunchRecording& launch = *launch_;
    attempt([&] { body(launch); });
  }

  void access(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, std::size_t address,
              std::size_t size, MemoryUse use) {
    on_launch([&](LaunchRecording& launch) { launch.memory(*item, *memory, address, size, use); });
  }

  static void describe(const oclgrind::KernelInvocation& invocation, trace::ForeignKernel* kernel) {
    kernel->set_name(invocation.getKernel()->getName());
    const oclgrind::Size3 global = invocation.getGlobalSize(), local = invocation.getLocalSize();
    for (unsigned d = 0; d < invocation.getWorkDim(); ++d) {
      kernel->add_global_size(global[d]);
      kernel->add_local_size(local[d]);
    }
  }

  std::unique_ptr<HostMemory> host_;
  std::unique_ptr<LaunchRecording> launch_;
  std::unique_ptr<LaunchRecording> failed_;  ///< it may be at work when it fails
  std::unique_ptr<LaunchObjects> objects_;
  std::string failure_;
};

std::map<oclgrind::Context*, std::unique_ptr<AccessRecorder>>& recorders() {
  static auto* const all = new std::map<oclgrind::Context*, std::unique_ptr<AccessRecorder>>;
  return *all;
}

/// Before the recording itself is finished.
void finish_contexts() {
  record([](ApiRecorder&) {
    for (HostMemory* host : open_contexts()) host->finish();
  });
}

}  // namespace
}  // namespace fm

#define FM_EXPORTED __attribute__((visibility("default")))

// Names that Oclgrind looks for.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

FM_EXPORTED void initializePlugins(oclgrind::Context* context) {
  static std::once_flag once;
  std::call_once(once, [] {
    fm::Recording::start({fm::tool, false});
    std::atexit(fm::finish_contexts);
  });
  auto& plugin = fm::recorders()[context];
  plugin = std::make_unique<fm::AccessRecorder>(context);
  context->registerPlugin(plugin.get());
}

FM_EXPORTED void releasePlugins(oclgrind::Context* context) {
  const auto found = fm::recorders().find(context);
  if (found == fm::recorders().end()) return;
  context->unregisterPlugin(found->second.get());
  fm::recorders().erase(found);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
