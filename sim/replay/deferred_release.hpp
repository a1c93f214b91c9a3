#pragma once
// When the memory of released objects comes back.

#include <vector>

#include "sim/replay/agenda.hpp"
#include "sim/replay/command_queues.hpp"
#include "sim/replay/device_heap.hpp"

namespace fm {

/// allocator.release: `immediate`; `delayed` by allocator.release_delay; `when_idle`: once no
/// command is enqueued or running. Until then the object's bytes stay resident in their class.
class DeferredRelease {
 public:
  /// All arguments outlive it.
  DeferredRelease(const DeviceConfig& config, DeviceHeap& heap, Agenda& agenda,
                  CommandQueues& queues);
  /// Now. Throws UserError for an object that is not there.
  void release(std::uint64_t object);

 private:
  enum class Policy { immediate, delayed, when_idle };
  Policy policy_;
  Picoseconds delay_;
  DeviceHeap& heap_;
  Agenda& agenda_;
  CommandQueues& queues_;
  std::vector<std::uint64_t> waiting_;  // tickets
};

}  // namespace fm
