#include "sim/memory/cache_level.hpp"

#include <algorithm>

namespace fm {

CacheLevel::CacheLevel(sc_core::sc_module_name name, const Clock& clock,
                       const CacheParameters& parameters, MemoryLevel* below, Ticks below_latency)
    : Block(name, clock, BlockWindow::ahead),
      parameters_(parameters),
      by_period_(clock.period),
      line_size_(parameters.line_bytes),
      interleave_(parameters.slices, parameters.hashed),
      below_(below),
      below_latency_(below_latency),
      source_below_(below->attach(this, below_latency)),
      answer_order_(parameters.slices) {
  CacheSlice::Outlet* const outlet = this;
  for (std::uint32_t i = 0; i < parameters.slices; ++i) slices_.emplace_back(parameters, i, outlet);
}

std::uint16_t CacheLevel::attach(LineSink* sink, Ticks latency) {
  sources_.push_back({sink, latency, latency});
  return static_cast<std::uint16_t>(sources_.size() - 1);
}

void CacheLevel::change_cycle(Ticks cycle, Ticks nominal) {
  for (Source& source : sources_) source.latency = source.nominal * cycle / nominal;
  for (CacheSlice& slice : slices_) slice.change_cycle(cycle);
}

void CacheLevel::receive(const LineRequest& request) {
  ++above_.requests_of(request.client, request.kind);
  if (tap_ != nullptr) tap_->arriving(request);
  slices_[interleave_.part(line_size_.quotient(request.address))].receive(request);
  wake_by(request.time);
}

void CacheLevel::answer(const LineAnswer& answer) {
  slices_[answer.tag >> 16].receive(answer);
  wake_by(answer.time);
}

void CacheLevel::invalidate(Address first, Bytes bytes, Ticks time) {
  for (CacheSlice& slice : slices_) {
    slice.receive(Maintenance{time, first.count(), first.count() + bytes.count()});
  }
  wake_by(time);
}

Ticks CacheLevel::advance(Ticks, Ticks end) {
  Ticks next = never;
  for (current_slice_ = 0; current_slice_ < slices_.size(); ++current_slice_) {
    next = std::min(next, slices_[current_slice_].advance(end));
  }
  return next;
}

void CacheLevel::answer(const LineRequest& request, Ticks leaves) {
  ++above_.answers_of(request.client, request.kind);
  if (request.kind != AccessKind::write) {
    read_latencies_[index_of(request.client)].record(cycles(leaves - request.time));
  }
  const Source& source = sources_[request.source];
  LineAnswer answer;
  answer.time = leaves + source.latency;
  answer.order = std::uint64_t{current_slice_} << 48 | answer_order_[current_slice_]++;
  answer.tag = request.tag;
  source.sink->answer(answer);
}

void CacheLevel::send_below(const LineRequest& request) {
  LineRequest below = request;
  below.source = source_below_;
  // Slices count on their own: the slice number on top keeps sequences unique within this source.
  below.sequence = std::uint64_t{current_slice_} << 48 | request.sequence;
  below.time += below_latency_;
  const std::uint32_t line = below_->line_bytes();
  below.byte_mask = request.kind == AccessKind::read
                        ? range_mask(request.address, request.bytes, line)
                        : widen_mask(request.byte_mask,
                                     line_size_.quotient(request.address) * parameters_.line_bytes,
                                     parameters_.line_bytes, line);
  ++below_counts_.requests_of(below.client, below.kind);
  if (tap_below_ != nullptr) tap_below_->arriving(below);
  below_->receive(below);
}

void CacheLevel::fetched(MemoryClient client, Ticks ticks) {
  external_latencies_[index_of(client)].record(cycles(ticks));
}

bool CacheLevel::idle() const {
  return std::all_of(slices_.begin(), slices_.end(),
                     [](const CacheSlice& slice) { return slice.idle(); });
}

void CacheLevel::append_waits(std::vector<Wait>* waits) const {
  for (const CacheSlice& slice : slices_) {
    if (slice.idle()) continue;
    waits->push_back(slice.wait());
    waits->back().waits_for = {below_->level_name()};
  }
}

}  // namespace fm
