#pragma once
// The CPU's part of a run: its time, and what it moves through the memory it shares with the GPU.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/device_config.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/replay/device_heap.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

class HostCpu {
 public:
  /// Registers its counters. All arguments outlive it.
  HostCpu(const DeviceConfig& config, MemorySystem& memory, Agenda& agenda,
          CounterRegistry& registry);

  /// A thread is busy for `cost`.
  void work(Picoseconds cost, std::function<void()> done);
  /// Moves ranges, one after the other: at `bytes_per_second` over the bytes of one of them, or
  /// slower where memory is.
  void move(std::vector<MemoryTransfer> transfers, double bytes_per_second,
            std::function<void()> done);
  /// What a new object costs: allocator.base_cost, allocator.page_cost a page and, with
  /// allocator.zero_pages, writing zeros over it at allocator.zeroing_bandwidth.
  void allocate(const HeapObject& object, std::function<void()> done);

 private:
  void busy(Picoseconds from);

  const DeviceConfig& config_;
  const Bytes page_;
  MemorySystem& memory_;
  Agenda& agenda_;
  std::uint64_t busy_ps_ = 0, pages_ = 0, zeroed_ = 0;
};

}  // namespace fm
