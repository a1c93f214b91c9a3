#pragma once
// The phone's flash storage (UFS) as its driver sees it.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "core/result.hpp"
#include "sim/memory/memory_port.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/stats/counter_registry.hpp"
#include "sim/storage/flash_timing.hpp"

namespace fm {

struct StorageRead {
  std::uint64_t file_offset = 0;
  Address destination;
  Bytes bytes;
};

/// storage.queues command queues (UFS up to 3.1 has one; issuing from several cores gains nothing:
/// PowerInfer-2, arXiv 2406.06282, section 2), each served in order; a request goes to the
/// shortest. A queue holds storage.queue_depth commands; each takes storage.command_latency from
/// when it enters, all of them at the same time, so that a full queue hides it and a single request
/// does not. Pages then come at the bandwidth of their request (FlashTiming), one page at a time
/// over the whole device, and are written to memory through the port; storage.buffer of a queue may
/// wait for memory, and a memory congested for longer holds the flash back.
class FlashStorage {
 public:
  /// Registers its counters. All arguments outlive it.
  FlashStorage(const DeviceConfig& config, MemoryPort& port, Agenda& agenda,
               CounterRegistry& registry);

  /// One request into memory, from now; `done` once its last byte is in memory. A request of zero
  /// bytes still costs its command.
  void read(const StorageRead& read, std::function<void()> done);
  bool idle() const;
  void append_waits(std::vector<Wait>* waits) const;
  /// The time the bytes read so far take at the curve's best bandwidth, without latencies.
  Picoseconds floor() const;
  Bytes bytes_read() const { return Bytes(bytes_read_); }
  double best_bandwidth() const { return timing_.best_bandwidth(); }
  void append_checks(std::vector<ResultCheck>* checks) const;

 private:
  struct Request {
    StorageRead read;
    ReadPattern::Place place;
    std::function<void()> done;
    bool entered = false;         // in the device's queue
    Picoseconds ready;            // its command is done
    double bandwidth = 0;         // bytes per second, once its data begins
    std::uint64_t arrived = 0;    // bytes taken off the flash
    std::uint32_t unwritten = 0;  // pages handed to memory and not yet accepted
    bool page_due = false;        // a page is on its way from the flash
  };
  using Queue = std::deque<Request>;
  void enter(Queue* queue);
  void fetch_page(Queue* queue);
  void page_arrived(Queue* queue, std::uint64_t bytes);
  void page_written(Queue* queue, std::uint64_t bytes);

  const FlashTiming timing_;
  ReadPattern pattern_;
  const Picoseconds command_latency_;
  const std::size_t queue_depth_;
  const std::uint64_t buffered_pages_;  // of a queue
  MemoryPort& port_;
  Agenda& agenda_;
  std::vector<Queue> queues_;
  Picoseconds device_free_;  // when the page on its way has arrived
  std::uint64_t requests_ = 0, sequential_ = 0, random_ = 0;
  std::uint64_t bytes_read_ = 0, bytes_written_ = 0, busy_ps_ = 0;
};

}  // namespace fm
