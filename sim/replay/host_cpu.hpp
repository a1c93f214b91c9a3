#pragma once
// The CPU's part of a run: its time, and what it moves through the memory it shares with the GPU.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/device_config.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/power/governor.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/replay/device_heap.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

class HostCpu {
 public:
  /// Registers its counters. All arguments outlive it.
  HostCpu(const DeviceConfig& config, MemorySystem& memory, Agenda& agenda,
          CounterRegistry& registry);

  /// A thread is busy for `cost` at the fastest clock, longer at a slower one.
  void work(Picoseconds cost, std::function<void()> done);
  /// Moves ranges, one after the other: at `bytes_per_second` over the bytes of one of them, or
  /// slower where memory is.
  void move(std::vector<MemoryTransfer> transfers, double bytes_per_second,
            std::function<void()> done);
  /// What a new object costs: allocator.base_cost, allocator.page_cost a page and, with
  /// allocator.zero_pages, writing zeros over it at allocator.zeroing_bandwidth.
  void allocate(const HeapObject& object, std::function<void()> done);

  /// Share of the fastest clock and voltage over that clock's, from now on: work under way goes on
  /// at this speed.
  void set_speed(double speed, double voltage);
  /// How long at least one thread was busy since the last call.
  Picoseconds take_busy() { return busy_.take(Agenda::now()); }

 private:
  struct Work {
    double left;  // picoseconds at the fastest clock
    std::function<void()> done;
  };
  void schedule(std::uint64_t number);
  void progress();
  void count(Picoseconds time);

  const DeviceConfig& config_;
  const Bytes page_;
  MemorySystem& memory_;
  Agenda& agenda_;
  double speed_ = 1, voltage_ = 1;
  std::map<std::uint64_t, Work> running_;
  std::uint64_t works_ = 0;
  std::uint64_t speeds_ = 0;  // changes of speed so far
  Picoseconds since_;         // running_'s work is counted until then
  BusyTime busy_;
  std::uint64_t busy_ps_ = 0, active_ps_ = 0, pages_ = 0, zeroed_ = 0;
};

}  // namespace fm
