#pragma once
// The phone's flash storage (UFS) as its driver sees it.

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "core/device_config.hpp"
#include "core/result.hpp"
#include "sim/memory/memory_port.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// Sustained bandwidth of requests of `bytes`: linear between the curve's points over log2 of the
/// size, constant outside them. `curve`: ascending x in bytes, y in bytes per second; not empty.
double bandwidth_at(const std::vector<CurvePoint>& curve, Bytes bytes);

/// storage.queues command queues (UFS up to 3.1 has one; issuing from several cores gains nothing:
/// PowerInfer-2, arXiv 2406.06282, section 2), each served in order; a request goes to the
/// shortest. One that finds its queue empty waits storage.command_latency first. Its pages then
/// come at the bandwidth of its size, one page at a time over the whole device, and are written to
/// memory through the port; at most two pages of a queue wait for memory, so a congested memory
/// holds the flash back.
class FlashStorage {
 public:
  /// Registers its counters. All arguments outlive it.
  FlashStorage(const DeviceConfig& config, MemoryPort& port, Agenda& agenda,
               CounterRegistry& registry);

  /// Reads one request into memory, from now; `done` once its last byte is in memory. A request of
  /// zero bytes still costs its command.
  void read(Address destination, Bytes bytes, std::function<void()> done);
  bool idle() const;
  std::vector<std::string> waiting() const;
  /// The time the bytes read so far take at the curve's best bandwidth, without latencies.
  Picoseconds floor() const;
  Bytes bytes_read() const { return Bytes(bytes_read_); }
  double best_bandwidth() const { return best_bandwidth_; }
  void append_checks(std::vector<ResultCheck>* checks) const;

 private:
  struct Request {
    Address destination;
    std::uint64_t bytes = 0;
    std::function<void()> done;
    double bandwidth = 0;         // bytes per second
    std::uint64_t arrived = 0;    // bytes taken off the flash
    std::uint32_t unwritten = 0;  // pages handed to memory and not yet accepted
    bool page_due = false;        // a page is on its way from the flash
  };
  using Queue = std::deque<Request>;
  void fetch_page(Queue* queue);
  void page_arrived(Queue* queue, std::uint64_t bytes);
  void page_written(Queue* queue, std::uint64_t bytes);

  const std::vector<CurvePoint>& curve_;
  Picoseconds command_latency_;
  double best_bandwidth_ = 0;
  MemoryPort& port_;
  Agenda& agenda_;
  std::vector<Queue> queues_;
  Picoseconds device_free_;  // when the page on its way has arrived
  std::uint64_t requests_ = 0, bytes_read_ = 0, bytes_written_ = 0, busy_ps_ = 0;
};

}  // namespace fm
