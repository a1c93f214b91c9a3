#pragma once
// How everything that is not a shader core reads and writes the memory the GPU shares: copies, disk
// DMA, CPU, display.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "sim/memory/block.hpp"
#include "sim/memory/memory_level.hpp"
#include "sim/memory/transfer_policy.hpp"
#include "sim/memory/wait_graph.hpp"

namespace fm {

/// A range to move. Any size: the port splits it into lines and keeps a bounded number of them in
/// flight.
struct MemoryTransfer {
  Address address;
  Bytes bytes;
  bool write = false;
};

/// The way of one client into the memory hierarchy: copies enter at the L2 cache, all others at the
/// system-level cache. Transfers are served in the order they were submitted.
class MemoryPort : public Block, private LineSink {
 public:
  /// `level`: where lines enter; `outstanding`: lines in flight at most; `latency`: from here to
  /// `level` and back.
  MemoryPort(sc_core::sc_module_name name, const Clock& clock, MemoryLevel* level,
             MemoryClient client, std::uint32_t outstanding, Ticks latency);

  /// At the current simulation time. `done` runs at the simulation time the last line is answered
  /// (a write: accepted by the level it enters); for zero bytes at the current time, after the
  /// caller returned.
  void submit(const MemoryTransfer& transfer, std::function<void()> done);
  /// Asks `policy`, which outlives it, which transfers to simulate; without one all of them.
  void follow(TransferPolicy& policy) { policy_ = &policy; }
  /// For a port whose latency is cycles of the GPU's clock: from now on a cycle is `cycle` instead
  /// of `nominal`.
  void change_cycle(Ticks cycle, Ticks nominal) { latency_ = nominal_latency_ * cycle / nominal; }
  bool idle() const { return transfers_.empty(); }
  void append_waits(std::vector<Wait>* waits) const;
  const TrafficCounts& traffic() const { return traffic_; }
  std::uint64_t bytes_submitted() const { return bytes_submitted_; }
  MemoryClient client() const { return client_; }

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  struct Pending {
    MemoryTransfer transfer;
    std::function<void()> done;
    std::uint64_t next_byte = 0;   ///< first not yet sent
    std::uint64_t unanswered = 0;  ///< lines sent
    Ticks submitted = 0;
  };
  void answer(const LineAnswer& answer) override;
  void take_answers(Ticks now);
  void send_lines(Ticks now);
  void send_line(Pending& pending, std::uint32_t tag, Ticks now);

  TransferPolicy* policy_ = nullptr;
  MemoryLevel* level_;
  MemoryClient client_;
  std::uint32_t outstanding_;
  Ticks nominal_latency_, latency_;
  std::uint16_t source_;
  std::uint32_t in_flight_ = 0;
  std::uint64_t sequence_ = 0, bytes_submitted_ = 0;
  std::uint64_t first_ = 0;  ///< number of the transfer at the front of transfers_
  std::deque<Pending> transfers_;
  AnswerQueue answers_;
  TrafficCounts traffic_;
};

}  // namespace fm
