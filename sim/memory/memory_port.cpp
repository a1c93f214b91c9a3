#include "sim/memory/memory_port.hpp"

#include <algorithm>

namespace fm {

MemoryPort::MemoryPort(sc_core::sc_module_name name, const Clock& clock, MemoryLevel* level,
                       MemoryClient client, std::uint32_t outstanding, Ticks latency)
    : Block(name, clock, BlockWindow::exact),
      level_(level),
      client_(client),
      outstanding_(outstanding),
      nominal_latency_(latency),
      latency_(latency),
      source_(level->attach(this, latency)) {}

void MemoryPort::submit(const MemoryTransfer& transfer, std::function<void()> done) {
  if (policy_ != nullptr && policy_->take(client_, transfer, &done)) return;
  bytes_submitted_ += transfer.bytes.count();
  transfers_.push_back({transfer, std::move(done), 0, 0, now()});
  wake_by(now());
}

void MemoryPort::answer(const LineAnswer& answer) {
  answers_.push(answer);
  wake_by(answer.time);
}

Ticks MemoryPort::advance(Ticks now, Ticks) {
  take_answers(now);
  send_lines(now);
  while (!transfers_.empty() && transfers_.front().unanswered == 0 &&
         transfers_.front().next_byte == transfers_.front().transfer.bytes.count()) {
    const std::function<void()> done = std::move(transfers_.front().done);
    transfers_.pop_front();
    ++first_;
    if (done) done();
  }
  return answers_.empty() ? never : answers_.front().time;
}

void MemoryPort::take_answers(Ticks now) {
  while (!answers_.empty() && answers_.front().time <= now) {
    Pending& pending = transfers_[answers_.front().tag - static_cast<std::uint32_t>(first_)];
    answers_.pop();
    --in_flight_;
    --pending.unanswered;
    ++traffic_.answers_of(client_, pending.transfer.write ? AccessKind::write : AccessKind::read);
  }
}

void MemoryPort::send_lines(Ticks now) {
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    Pending& pending = transfers_[i];
    while (pending.next_byte < pending.transfer.bytes.count()) {
      if (in_flight_ == outstanding_) return;
      send_line(pending, static_cast<std::uint32_t>(first_ + i), now);
    }
  }
}

void MemoryPort::send_line(Pending& pending, std::uint32_t tag, Ticks now) {
  const std::uint32_t line = level_->line_bytes();
  const std::uint64_t first = pending.transfer.address.count() + pending.next_byte;
  const std::uint64_t end = pending.transfer.address.count() + pending.transfer.bytes.count();
  const std::uint64_t line_end = (first / line + 1) * line;
  LineRequest request;
  request.bytes = static_cast<std::uint32_t>(std::min(end, line_end) - first);
  request.address = first;
  request.time = now + latency_;
  request.byte_mask = range_mask(first, request.bytes, line);
  request.sequence = sequence_++;
  request.tag = tag;
  request.source = source_;
  request.client = client_;
  request.kind = pending.transfer.write ? AccessKind::write : AccessKind::read;
  pending.next_byte += request.bytes;
  ++pending.unanswered;
  ++in_flight_;
  ++traffic_.requests_of(client_, request.kind);
  level_->receive(request);
}

void MemoryPort::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  const Pending& first = transfers_.front();
  LineRequest oldest;
  oldest.time = first.submitted;
  oldest.address = first.transfer.address.count();
  oldest.bytes = static_cast<std::uint32_t>(first.transfer.bytes.count());
  oldest.client = client_;
  oldest.kind = first.transfer.write ? AccessKind::write : AccessKind::read;
  waits->push_back({to_string(client_) + " port",
                    std::to_string(transfers_.size()) + " transfers, " +
                        std::to_string(in_flight_) + " lines in flight",
                    {level_->level_name()},
                    oldest});
}

}  // namespace fm
