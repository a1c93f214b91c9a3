#include "sim/sampling/transfer_sampler.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

/// From the disk, a window: several rounds of the staging ring's read, unmap, copy.
constexpr std::uint64_t window_bytes = std::uint64_t{3} << 20;

}  // namespace

TransferSampler::TransferSampler(MemorySystem& memory, const CounterRegistry& registry,
                                 Agenda& agenda, const Trace& trace, std::uint64_t cache_bytes)
    : memory_(memory), cells_(registry), agenda_(agenda), fill_bytes_(cache_bytes) {
  for (const auto& operation : trace.operations) {
    remaining_[disk_write] += operation.disk_read().bytes();
    remaining_[copy_read] += operation.copy().bytes();
    remaining_[copy_write] += operation.copy().bytes();
  }
}

bool TransferSampler::take(MemoryClient client, const MemoryTransfer& transfer,
                           std::function<void()>* done) {
  if (phase_ == Phase::stopped) return false;
  if (client != MemoryClient::storage && client != MemoryClient::copy_engine) return false;
  const Kind kind = client == MemoryClient::storage ? disk_write
                    : transfer.write                ? copy_write
                                                    : copy_read;
  const std::uint64_t bytes = transfer.bytes.count();
  remaining_[kind] -= std::min(remaining_[kind], bytes);
  if (phase_ == Phase::accounting) {
    if (credit_[kind] < bytes) return false;
    credit_[kind] -= bytes;
    uncounted_[kind] += bytes;
    count_windows();
    accounted_bytes_ += kind == disk_write ? bytes : 0;
    if (transfer.write) memory_.touch(transfer.address, transfer.bytes, client, true);
    agenda_.after(mean_time(kind), std::move(*done));
    return true;
  }
  const Ticks now = Block::now();
  note_idle(now);
  moved_[kind] += bytes;
  if (phase_ == Phase::first_window || phase_ == Phase::second_window) {
    *done = [this, kind, now, done = std::move(*done)] {
      ++counted_[kind];
      time_[kind] += Block::now() - now;
      done();
    };
  }
  return false;
}

/// Called before a transfer begins: the moments at which a window may open or close.
void TransferSampler::note_idle(Ticks now) {
  const bool due = phase_ == Phase::filling ? moved_[copy_write] >= fill_bytes_
                                            : moved_[disk_write] >= window_bytes;
  if (!due || !memory_.idle()) return;
  const bool others = memory_.port_bytes() - window_port_bytes_ !=
                      moved_[disk_write] + moved_[copy_read] + moved_[copy_write];
  if (phase_ == Phase::filling || others) return open_window(now);
  const CounterCells::Moves moves = cells_.since(before_);
  const std::size_t window = phase_ == Phase::first_window ? 0 : 1;
  pace_[window] =
      static_cast<double>(now - window_start_) / static_cast<double>(moved_[disk_write]);
  moves_.resize(moves.size());
  for (std::size_t i = 0; i < moves.size(); ++i) moves_[i] += moves[i];
  for (std::size_t kind = 0; kind < kind_count; ++kind) window_bytes_[kind] += moved_[kind];
  if (window == 1) return grant();
  phase_ = Phase::second_window;
  open_window(now);
}

void TransferSampler::open_window(Ticks now) {
  if (phase_ == Phase::filling) phase_ = Phase::first_window;
  window_start_ = now;
  before_ = cells_.now();
  window_port_bytes_ = memory_.port_bytes();
  moved_ = {};
}

void TransferSampler::grant() {
  phase_ = Phase::accounting;
  std::uint64_t windows = ~std::uint64_t{0};
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    if (window_bytes_[kind] == 0) continue;
    windows = std::min(windows, remaining_[kind] / window_bytes_[kind]);
  }
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    credit_[kind] = windows * window_bytes_[kind];
  }
}

/// Counters move whenever another whole window of every kind has gone by.
void TransferSampler::count_windows() {
  while (true) {
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
      if (uncounted_[kind] < window_bytes_[kind]) return;
    }
    for (std::size_t kind = 0; kind < kind_count; ++kind) uncounted_[kind] -= window_bytes_[kind];
    cells_.add(moves_);
  }
}

Picoseconds TransferSampler::mean_time(Kind kind) const {
  return Picoseconds(counted_[kind] == 0 ? 0 : time_[kind] / counted_[kind]);
}

Ticks TransferSampler::time_bound() const {
  const double pace_error = std::abs(pace_[0] - pace_[1]) + 0.005 * pace_[1];
  return static_cast<Ticks>(std::ceil(pace_error * static_cast<double>(accounted_bytes_)));
}

}  // namespace fm
