#include "sim/replay/deferred_release.hpp"

namespace fm {

DeferredRelease::DeferredRelease(const DeviceConfig& config, DeviceHeap& heap, Agenda& agenda,
                                 CommandQueues& queues)
    : policy_(config.word("allocator.release") == "immediate" ? Policy::immediate
              : config.word("allocator.release") == "delayed" ? Policy::delayed
                                                              : Policy::when_idle),
      delay_(config.time("allocator.release_delay")),
      heap_(heap),
      agenda_(agenda),
      queues_(queues) {
  queues_.on_idle([this] {
    for (const std::uint64_t ticket : waiting_) heap_.reclaim(ticket, Agenda::now());
    waiting_.clear();
  });
}

void DeferredRelease::release(std::uint64_t object) {
  const std::uint64_t ticket = heap_.retire(object);
  if (policy_ == Policy::delayed) {
    agenda_.after(delay_, [this, ticket] { heap_.reclaim(ticket, Agenda::now()); });
  } else if (policy_ == Policy::when_idle && !queues_.idle()) {
    waiting_.push_back(ticket);
  } else {
    heap_.reclaim(ticket, Agenda::now());
  }
}

}  // namespace fm
