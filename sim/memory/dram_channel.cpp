#include "sim/memory/dram_channel.hpp"

#include <algorithm>
#include <cmath>

namespace fm {

DramClock::DramClock(double hertz)
    : period_fs_(static_cast<Ticks>(std::llround(1e15 / hertz))), by_period_(period_fs_) {}

std::uint32_t DramClock::clocks(Ticks duration) const {
  return static_cast<std::uint32_t>((duration * 1000 + period_fs_ * 974 / 1000) / period_fs_);
}

DramChannel::DramChannel(sc_core::sc_module_name name, const Clock& clock,
                         const DramParameters& parameters, std::uint32_t index, Outlet* outlet)
    : Block(name, clock, BlockWindow::ahead),
      parameters_(parameters),
      mapping_(parameters),
      command_clock_(parameters.clock),
      index_(index),
      outlet_(outlet),
      reads_(parameters.banks, parameters.read_queue),
      writes_(parameters.banks, parameters.write_queue),
      banks_(parameters),
      burst_(parameters.timing.burst),
      next_refresh_(refresh_interval()) {}

void DramChannel::set_speed(double speed) {
  const auto factor = static_cast<std::uint32_t>(std::max(1L, std::lround(1 / speed)));
  burst_ = parameters_.timing.burst * factor;
  banks_.stretch_bursts(factor);
}

void DramChannel::receive(const LineRequest& request, std::uint64_t local) {
  arrivals_.push({request, local});
  // While it advances, and for a place in a full queue, the channel looks by itself.
  if (advancing_ || queue(request.kind == AccessKind::write).full()) return;
  wake_by(request.time + parameters_.controller);
}

DramCycle DramChannel::next_arrival() const {
  if (arrivals_.empty()) return never;
  const LineRequest& request = arrivals_.front().request;
  if (queue(request.kind == AccessKind::write).full()) return never;
  // One that waited for a place in the queue is late: it enters no sooner than the place came free.
  return std::max(command_clock_.from(request.time + parameters_.controller), looked_);
}

Ticks DramChannel::advance(Ticks, Ticks end) {
  advancing_ = true;
  const Ticks next = run_until(end);
  advancing_ = false;
  return next;
}

Ticks DramChannel::run_until(Ticks end) {
  while (true) {
    const DramCycle arrival = next_arrival();
    const DramCycle next = std::min(plan_.cycle, arrival);
    if (next == never) return never;
    const Ticks time = command_clock_.ticks(next);
    if (time >= end) return time;
    if (arrival <= plan_.cycle) {
      if (reads_.empty() && writes_.empty()) catch_up(arrival);
      if (!admit(arrival)) plan(arrival);
    } else {
      issue(plan_);
      plan(plan_.cycle);
    }
  }
}

bool DramChannel::admit(DramCycle cycle) {
  looked_ = cycle;
  bool planned = true;
  while (next_arrival() <= cycle) {
    const LineRequest request = arrivals_.front().request;
    const DramPlace place = mapping_.locate(arrivals_.front().local);
    arrivals_.pop();
    const std::uint64_t order = order_++;
    const bool write = request.kind == AccessKind::write;
    const bool forwarded = !write && forward(request, place);
    if (write || forwarded) {
      outlet_->answer(index_, request, command_clock_.ticks(cycle) + parameters_.controller);
    }
    if (forwarded) {
      ++counts_.forwarded;
      ++counts_.requests[index_of(request.client)][index_of(request.kind)];
    } else {
      const bool hit = banks_.holds(place.bank, place.row);
      const DramQueue::Index entry =
          queue(write).insert(request, place, order, cycle, bursts_of(request), hit);
      planned = planned && plan_arrival(queue(write)[entry], hit, cycle);
    }
  }
  return planned;
}

std::uint32_t DramChannel::bursts_of(const LineRequest& request) const {
  if (request.kind != AccessKind::write) {
    return (request.bytes + parameters_.burst_bytes - 1) / parameters_.burst_bytes;
  }
  const std::uint32_t granule = granule_bytes(parameters_.line_bytes);
  const std::uint32_t per_burst = std::max(1u, parameters_.burst_bytes / granule);
  const std::uint64_t burst =
      per_burst >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << per_burst) - 1;
  std::uint32_t bursts = 0;
  for (std::uint32_t bit = 0; bit < 64; bit += per_burst) {
    if ((request.byte_mask >> bit & burst) != 0) ++bursts;
  }
  return std::max(1u, bursts);
}

bool DramChannel::forward(const LineRequest& read, const DramPlace& place) const {
  if (writes_.empty()) return false;
  const DramQueue::Index found = writes_.find(place.bank, place.row, place.column);
  if (found == DramQueue::none) return false;
  const LineRequest& write = writes_[found].request;
  const std::uint64_t wanted = range_mask(read.address, read.bytes, parameters_.line_bytes);
  return (wanted & ~write.byte_mask) == 0;
}

void DramChannel::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  Wait wait;
  wait.block = "dram channel " + std::to_string(index_);
  wait.state = std::to_string(reads_.size()) + " reads and " + std::to_string(writes_.size()) +
               " writes scheduled, " + std::to_string(arrivals_.size()) + " before its queues";
  for (const DramQueue* queue : {&reads_, &writes_}) {
    if (queue->empty()) continue;
    const LineRequest& request = (*queue)[queue->oldest()].request;
    if (!wait.oldest || RequestBefore{}(request, *wait.oldest)) wait.oldest = request;
  }
  if (!wait.oldest) wait.oldest = arrivals_.front().request;
  waits->push_back(wait);
}

}  // namespace fm
