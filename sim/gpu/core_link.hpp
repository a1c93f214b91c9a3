#pragma once
// A shader core's way to the L2 and back: bounded bytes a cycle each way.

#include <algorithm>
#include <cstdint>

#include "sim/memory/block.hpp"
#include "sim/memory/memory_level.hpp"

namespace fm {

using Cycle = std::uint64_t;
constexpr Cycle no_cycle = ~Cycle{0};

/// A tag names the unit that asked, what it asked and its MSHR: all the core needs when the answer
/// comes.
constexpr std::uint32_t write_tag = 1u << 20;
constexpr std::uint32_t unit_tag_shift = 24;

class CoreLink {
 public:
  CoreLink(const Clock& clock, MemoryLevel* l2, LineSink* sink, std::uint32_t request_latency,
           std::uint32_t answer_latency, std::uint32_t bytes_per_cycle)
      : clock_(clock),
        l2_(l2),
        latency_(request_latency),
        bytes_per_cycle_(bytes_per_cycle),
        source_(l2->attach(sink, clock.period * answer_latency)) {}

  /// Sends at `earliest` or as soon as the link is free; `line_bytes`: of the sender's line, to
  /// which the mask refers.
  void send(LineRequest request, std::uint32_t line_bytes, Cycle earliest) {
    const bool read = request.kind == AccessKind::read;
    const std::uint32_t payload = read ? 0 : request.bytes;
    const Cycle busy = cycles_for(payload);
    const Cycle start = std::max(earliest, out_free_);
    out_free_ = start + busy;
    bytes_out_ += payload;
    const std::uint32_t below = l2_->line_bytes();
    request.byte_mask = read ? range_mask(request.address, request.bytes, below)
                             : widen_mask(request.byte_mask, request.address, line_bytes, below);
    request.time = clock_.at(start + busy - 1 + latency_);
    request.sequence = sequence_++;
    request.source = source_;
    ++traffic_.requests_of(request.client, request.kind);
    l2_->receive(request);
  }

  /// An answer that arrived at `cycle` with `bytes` of data: when its last byte is in.
  Cycle take(std::uint32_t bytes, Cycle cycle) {
    const Cycle start = std::max(cycle, in_free_);
    in_free_ = start + cycles_for(bytes);
    bytes_in_ += bytes;
    return in_free_ - 1;
  }

  TrafficCounts& traffic() { return traffic_; }
  const TrafficCounts& traffic() const { return traffic_; }
  const std::uint64_t& bytes_in() const { return bytes_in_; }
  const std::uint64_t& bytes_out() const { return bytes_out_; }

 private:
  Cycle cycles_for(std::uint32_t bytes) const {
    return bytes <= bytes_per_cycle_ ? 1 : (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
  }
  const Clock clock_;
  MemoryLevel* l2_;
  std::uint32_t latency_, bytes_per_cycle_;
  std::uint16_t source_;
  Cycle out_free_ = 0, in_free_ = 0;
  std::uint64_t sequence_ = 0, bytes_in_ = 0, bytes_out_ = 0;
  TrafficCounts traffic_;
};

}  // namespace fm
