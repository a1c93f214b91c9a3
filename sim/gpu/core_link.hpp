#pragma once
// A shader core's way to the L2 and back: bounded bytes a cycle each way.

#include <algorithm>
#include <cstdint>

#include "sim/memory/block.hpp"
#include "sim/memory/divider.hpp"
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
        width_(bytes_per_cycle),
        source_(l2->attach(sink, clock.period * answer_latency)) {}

  /// Sends at `earliest` or as soon as the link is free; `line_bytes`: of the sender's line, to
  /// which the mask refers.
  void send(LineRequest request, std::uint32_t line_bytes, Cycle earliest) {
    const bool read = request.kind == AccessKind::read;
    const std::uint32_t payload = read ? 0 : request.bytes;
    // A request is a cycle's worth at most, and no longer on its way than its answer's data.
    out_free_ = std::max(earliest * cycle_units, out_free_) +
                (read ? std::min(cycle_units, units_for(request.bytes)) : units_for(payload));
    bytes_out_ += payload;
    const std::uint32_t below = l2_->line_bytes();
    request.byte_mask = read ? range_mask(request.address, request.bytes, below)
                             : widen_mask(request.byte_mask, request.address, line_bytes, below);
    request.time = clock_.at(last_cycle(out_free_) + latency_);
    request.sequence = sequence_++;
    request.source = source_;
    ++traffic_.requests_of(request.client, request.kind);
    l2_->receive(request);
  }

  /// An answer that arrived at `cycle` with `bytes` of data: when its last byte is in.
  Cycle take(std::uint32_t bytes, Cycle cycle) {
    in_free_ = std::max(cycle * cycle_units, in_free_) + units_for(bytes);
    bytes_in_ += bytes;
    return last_cycle(in_free_);
  }

  TrafficCounts& traffic() { return traffic_; }
  const TrafficCounts& traffic() const { return traffic_; }
  const std::uint64_t& bytes_in() const { return bytes_in_; }
  const std::uint64_t& bytes_out() const { return bytes_out_; }

 private:
  /// The link is busy for parts of cycles: two lines of half its width pass in one.
  static constexpr std::uint64_t cycle_units = 4096;
  std::uint64_t units_for(std::uint32_t bytes) const {
    return std::max<std::uint64_t>(1, width_.quotient(bytes * cycle_units));
  }
  static Cycle last_cycle(std::uint64_t free) { return (free + cycle_units - 1) / cycle_units - 1; }
  const Clock clock_;
  MemoryLevel* l2_;
  std::uint32_t latency_;
  Divider width_;  ///< bytes a cycle
  std::uint16_t source_;
  std::uint64_t out_free_ = 0, in_free_ = 0;  ///< in cycle_units
  std::uint64_t sequence_ = 0, bytes_in_ = 0, bytes_out_ = 0;
  TrafficCounts traffic_;
};

}  // namespace fm
