// A cache slice and the level below it: fetches, fills, write-backs, maintenance.

#include <algorithm>

#include "sim/memory/cache_slice.hpp"

namespace fm {

void CacheSlice::unstall(Ticks time) {
  if (stall_ == Stall::none) return;
  std::uint64_t& ticks = stall_ == Stall::mshr     ? counts_.stall_mshr_ticks
                         : stall_ == Stall::target ? counts_.stall_target_ticks
                         : stall_ == Stall::victim ? counts_.stall_victim_ticks
                                                   : counts_.stall_write_buffer_ticks;
  ticks += time - std::min(time, stalled_since_);
  ++counts_.retries;
  stall_ = Stall::none;
  pipe_free_ = std::max(pipe_free_, time);
}

void CacheSlice::handle_answer(const LineAnswer& answer) {
  const std::uint32_t entry = answer.tag & 0xffff;
  if (entry == slice_write_tag) {
    ++write_credits_;
    ++counts_.writes_acknowledged;
  } else {
    outlet_->fetched(mshrs_[entry].client, answer.time - mshrs_[entry].sent);
    below_in_free_ = std::max(answer.time, below_in_free_) + parameters_.below_line;
    fill(entry, below_in_free_);
  }
  unstall(answer.time);
}

void CacheSlice::fill(std::uint32_t mshr_index, Ticks time) {
  const Mshr& mshr = mshrs_[mshr_index];
  const std::uint32_t place = mshr.place;
  ++counts_.fills;
  if (place != none) {
    array_.finish_fetch(place);
    Ticks& bank = banks_free_[mshr.bank];
    bank = std::max(bank, time) + bank_time(parameters_.line_bytes);
  }
  for (std::uint32_t i = mshr.first_target; i != none;) {
    const Target& target = targets_[i];
    if (place != none && target.request.kind != AccessKind::read) {
      array_.write(place, target.request.byte_mask, target.request.client);
    }
    outlet_->answer(target.request, reserve_data(time + parameters_.latency, target.request.bytes));
    free_targets_.push_back(i);
    i = target.next;
  }
  free_mshrs_.push_back(mshr_index);
}

void CacheSlice::handle_maintenance(const Maintenance& maintenance) {
  const std::uint64_t first = maintenance.first / parameters_.line_bytes;
  const std::uint64_t last =
      (maintenance.last + parameters_.line_bytes - 1) / parameters_.line_bytes;
  if (last - first < array_.size()) {
    for (std::uint64_t number = first; number < last; ++number) {
      if (slices_.part(number) != index_) continue;
      const std::uint32_t place = array_.find(slices_.local(number));
      if (place != none) drop(place, maintenance.time);
    }
    return;
  }
  for (std::uint32_t place = 0; place < array_.size(); ++place) {
    if (!array_.holds_line(place)) continue;
    const std::uint64_t number = slices_.number(array_.local(place), index_);
    if (number >= first && number < last) {
      drop(place, maintenance.time);
    }
  }
}

void CacheSlice::drop(std::uint32_t place, Ticks time) {
  if (array_.is_fetched(place)) return;
  // Maintenance takes no credit: it may run ahead of the write buffer, and requests then wait for
  // it to drain.
  evict(place, time);
  ++counts_.flushed;
  array_.clear(place);
}

void CacheSlice::evict(std::uint32_t place, Ticks start) {
  if (!array_.is_dirty(place)) {
    if (array_.holds_line(place) && array_.valid(place) != 0) ++counts_.clean_evictions;
    return;
  }
  ++counts_.dirty_evictions;
  const std::uint64_t local = array_.local(place);
  LineRequest write;
  write.address = address_of(local);
  write.bytes = parameters_.line_bytes;
  write.byte_mask = array_.dirty_mask(place);
  write.client = array_.owner(place);
  if (write.byte_mask != full_mask_) ++counts_.partial_evictions;
  Ticks& bank = bank_free(local);
  bank = std::max(bank, start) + bank_time(parameters_.line_bytes);
  send_write(write, start);
}

void CacheSlice::send_write(const LineRequest& write, Ticks start) {
  LineRequest below = write;
  below.kind = AccessKind::write;
  below_out_free_ = std::max(start + parameters_.cycle, below_out_free_) + parameters_.below_line;
  below.time = below_out_free_;
  below.sequence = sequence_++;
  below.tag = slice_tag(index_, slice_write_tag);
  --write_credits_;
  ++counts_.writes_below;
  outlet_->send_below(below);
}

void CacheSlice::send_fetch(std::uint32_t mshr_index, const LineRequest& request, Ticks start) {
  LineRequest below = request;
  below.time = start + parameters_.cycle;
  below.sequence = sequence_++;
  below.tag = slice_tag(index_, mshr_index);
  Mshr& mshr = mshrs_[mshr_index];
  mshr.sent = below.time;
  if (mshr.place != none) {
    below.kind = AccessKind::read;
    below.address = line_size_.quotient(request.address) * parameters_.line_bytes;
    below.bytes = parameters_.line_bytes;
  }
  ++counts_.fetches;
  outlet_->send_below(below);
}

bool CacheSlice::idle() const {
  return requests_.empty() && answers_.empty() && free_mshrs_.size() == mshrs_.size() &&
         write_credits_ == static_cast<std::int64_t>(parameters_.write_buffer);
}

Wait CacheSlice::wait() const {
  static const char* const reasons[] = {"",
                                        ", waiting for a bank",
                                        ", stalled for an MSHR",
                                        ", stalled for a merge target",
                                        ", stalled for a victim",
                                        ", stalled for its write buffer"};
  Wait wait;
  wait.block = parameters_.name + " slice " + std::to_string(index_);
  wait.state =
      std::to_string(requests_.size()) + " requests queued, " +
      std::to_string(mshrs_.size() - free_mshrs_.size()) + " fetches and " +
      std::to_string(static_cast<std::int64_t>(parameters_.write_buffer) - write_credits_) +
      " writes below" + reasons[static_cast<int>(stall_)];
  const auto hold = [&wait](const LineRequest& request) {
    if (!wait.oldest || RequestBefore{}(request, *wait.oldest)) wait.oldest = request;
  };
  if (!requests_.empty()) hold(requests_.front());
  for (std::uint32_t i = 0; i < mshrs_.size(); ++i) {
    const bool free = std::find(free_mshrs_.begin(), free_mshrs_.end(), i) != free_mshrs_.end();
    if (!free && mshrs_[i].targets != 0) hold(targets_[mshrs_[i].first_target].request);
  }
  return wait;
}

std::uint64_t total(const TrafficCounts::Table& table) {
  std::uint64_t sum = 0;
  for (const auto& row : table) {
    for (const std::uint64_t count : row) sum += count;
  }
  return sum;
}

std::uint64_t total(const TrafficCounts::Table& table, AccessKind kind) {
  std::uint64_t sum = 0;
  for (const auto& row : table) sum += row[index_of(kind)];
  return sum;
}

std::uint64_t total(const TrafficCounts::Table& table, MemoryClient client) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : table[index_of(client)]) sum += count;
  return sum;
}

}  // namespace fm
