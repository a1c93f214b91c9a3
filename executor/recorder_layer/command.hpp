#pragma once
// One clEnqueue.. call.

#include "executor/recorder_layer/command_watch.hpp"

namespace fm {

/// What an enqueue function was called with besides its subject.
struct EnqueueArguments {
  cl_command_queue queue;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;
};

/// Made before the driver is called, which gets event(); finish() passes its answer on.
class Command {
 public:
  explicit Command(const EnqueueArguments& arguments);

  bool recorded() const { return known_; }
  /// A memory object the command uses; false when it is not known, and then nothing is recorded.
  bool uses(cl_mem handle);
  const MemoryView& use(std::size_t index) const { return uses_[index]; }
  void begin(CommandKind kind, trace::HostOperation operation);
  void begin_marker(bool barrier);
  void launch(cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
              const std::size_t* global, const std::size_t* local);
  void transfer(CommandKind kind, const Region& region, bool to_device);
  void copy(const MemoryView* source, const Region& from, const MemoryView& destination,
            const Region& to);
  void map(CommandKind kind, std::uint64_t bytes, cl_map_flags flags);
  void unmap(std::uint64_t bytes);

  cl_event* event() { return asked_ == nullptr && id_ != 0 ? &own_ : asked_; }
  cl_int finish(cl_int code);
  /// For functions that give no event.
  cl_int finish_without_event(cl_int code);

 private:
  const EnqueueArguments arguments_;
  cl_event* const asked_;
  const std::uint64_t since_;
  cl_event own_ = nullptr;
  std::vector<MemoryView> uses_;
  bool known_ = false, timed_ = false, blocking_ = false;
  OperationId id_ = 0;
};

/// Registers a queue that some extension made.
void learn_queue(cl_command_queue queue);

inline CommandKind kind_of_call(cl_bool blocks) {
  return blocks ? CommandKind::blocking : CommandKind::deferred;
}

}  // namespace fm
