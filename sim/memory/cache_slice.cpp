#include "sim/memory/cache_slice.hpp"

#include <algorithm>

namespace fm {

CacheSlice::CacheSlice(const CacheParameters& parameters, std::uint32_t index, Outlet* outlet)
    : parameters_(parameters),
      cycle_(parameters.cycle),
      latency_(parameters.latency),
      index_(index),
      outlet_(outlet),
      line_size_(parameters.line_bytes),
      width_(parameters.bytes_per_cycle),
      slices_(parameters.slices, parameters.hashed),
      banks_(parameters.banks, parameters.hashed),
      full_mask_(full_line_mask(parameters.line_bytes)),
      array_(parameters.bytes / parameters.slices / parameters.line_bytes, parameters.ways,
             parameters.line_bytes),
      mshrs_(parameters.mshrs),
      targets_(std::size_t{parameters.mshrs} * parameters.targets),
      write_credits_(parameters.write_buffer),
      banks_free_(parameters.banks) {
  for (std::uint32_t i = parameters_.mshrs; i-- > 0;) free_mshrs_.push_back(i);
  for (std::size_t i = targets_.size(); i-- > 0;) {
    free_targets_.push_back(static_cast<std::uint32_t>(i));
  }
}

Ticks CacheSlice::next_request() const {
  if (requests_.empty() || stall_ != Stall::none) return never;
  return std::max(requests_.front().time, pipe_free_);
}

Ticks CacheSlice::advance(Ticks end) {
  while (true) {
    const Ticks answer = answers_.empty() ? never : answers_.front().time;
    const Ticks maintenance = maintenance_.empty() ? never : maintenance_.front().time;
    const Ticks request = next_request();
    const Ticks next = std::min({answer, maintenance, request});
    if (next >= end) return next;
    if (answer == next) {
      const LineAnswer taken = answers_.front();
      answers_.pop();
      handle_answer(taken);
    } else if (maintenance == next) {
      const Maintenance taken = maintenance_.front();
      maintenance_.pop();
      handle_maintenance(taken);
    } else {
      handle_request(request);
    }
  }
}

void CacheSlice::handle_request(Ticks start) {
  const LineRequest& request = requests_.front();
  if (parameters_.perfect) {
    handle_perfectly(request);
    pop_request();
    return;
  }
  const Stall stall = lookup(request, start);
  if (stall == Stall::none) {
    accept(request, start);
    pop_request();
    return;
  }
  if (stall == Stall::bank) {
    const Ticks ready = bank_free(local_of(request));
    ++counts_.bank_conflicts;
    counts_.bank_conflict_ticks += ready - start;
    pipe_free_ = ready;
    return;
  }
  pipe_free_ = start + cycle_;
  stall_ = stall;
  stalled_since_ = start;
}

void CacheSlice::accept(const LineRequest& request, Ticks start) {
  const std::uint32_t width = parameters_.request_bytes_per_cycle;
  const bool read = request.kind == AccessKind::read;
  const Ticks cycles =
      read || request.bytes <= width || width == 0 ? 1 : (request.bytes + width - 1) / width;
  pipe_free_ = start + cycles * cycle_;
  counts_.request_ticks += cycles * cycle_;
  counts_.wait_ticks += start - request.time;
  if (!read) counts_.written_bytes += request.bytes;
  ++counts_.accepted[index_of(request.client)][index_of(request.kind)];
}

void CacheSlice::handle_perfectly(const LineRequest& request) {
  ++counts_.accepted[index_of(request.client)][index_of(request.kind)];
  ++counts_.hits[index_of(request.client)][index_of(request.kind)];
  if (request.kind != AccessKind::read) counts_.written_bytes += request.bytes;
  outlet_->answer(request, request.time + latency_ + cycle_);
}

CacheSlice::Stall CacheSlice::lookup(const LineRequest& request, Ticks start) {
  const std::uint64_t local = local_of(request);
  const std::uint32_t place = array_.find(local);
  if (parameters_.write_through && request.kind != AccessKind::read) {
    return pass_on(place, request, start);
  }
  if (place == none) {
    const bool allocates =
        array_.size() != 0 && parameters_.ways_for[index_of(request.client)] != 0;
    return allocates ? miss(none, local, request, start) : bypass(request, start);
  }
  if (array_.is_fetched(place)) return merge(place, request);
  if (request.kind == AccessKind::write || (request.byte_mask & ~array_.valid(place)) == 0) {
    return hit(place, local, request, start);
  }
  return miss(place, local, request, start);
}

CacheSlice::Stall CacheSlice::hit(std::uint32_t place, std::uint64_t local,
                                  const LineRequest& request, Ticks start) {
  Ticks& bank = bank_free(local);
  if (bank > start) return Stall::bank;
  bank = start + bank_time(request.bytes);
  array_.touch(place);
  if (request.kind != AccessKind::read) array_.write(place, request.byte_mask, request.client);
  ++counts_.hits[index_of(request.client)][index_of(request.kind)];
  outlet_->answer(request, reserve_data(start + latency_, request.bytes));
  return Stall::none;
}

CacheSlice::Stall CacheSlice::merge(std::uint32_t place, const LineRequest& request) {
  Mshr& mshr = mshrs_[array_.mshr(place)];
  if (mshr.targets == parameters_.targets) return Stall::target;
  array_.touch(place);
  add_target(mshr, request);
  ++counts_.merges[index_of(request.client)][index_of(request.kind)];
  return Stall::none;
}

CacheSlice::Stall CacheSlice::miss(std::uint32_t place, std::uint64_t local,
                                   const LineRequest& request, Ticks start) {
  const bool fetch = request.kind != AccessKind::write ||
                     (parameters_.fetch_partial_writes && request.byte_mask != full_mask_);
  if (fetch && free_mshrs_.empty()) return Stall::mshr;
  if (place == none) {
    place = array_.victim(local, parameters_.ways_for[index_of(request.client)]);
    if (place == none) return Stall::victim;
    if (array_.is_dirty(place) && write_credits_ <= 0) return Stall::write_buffer;
    evict(place, start);
    array_.take(place, local);
  } else {
    array_.touch(place);
  }
  ++counts_.primary_misses[index_of(request.client)][index_of(request.kind)];
  if (fetch) {
    const std::uint32_t mshr = start_fetch(place, request, start);
    mshrs_[mshr].bank = banks_.part(local);
    array_.start_fetch(place, mshr);
    return Stall::none;
  }
  ++counts_.unfetched_allocations;
  array_.write(place, request.byte_mask, request.client);
  outlet_->answer(request, reserve_data(start + latency_, request.bytes));
  return Stall::none;
}

CacheSlice::Stall CacheSlice::bypass(const LineRequest& request, Ticks start) {
  if (request.kind == AccessKind::write) {
    if (write_credits_ <= 0) return Stall::write_buffer;
    send_write(request, start);
    outlet_->answer(request, reserve_data(start + latency_, request.bytes));
  } else {
    if (free_mshrs_.empty()) return Stall::mshr;
    start_fetch(none, request, start);
  }
  ++counts_.bypasses[index_of(request.client)][index_of(request.kind)];
  return Stall::none;
}

CacheSlice::Stall CacheSlice::pass_on(std::uint32_t place, const LineRequest& request,
                                      Ticks start) {
  const Stall stall = bypass(request, start);
  if (stall != Stall::none || place == none || array_.is_fetched(place)) return stall;
  if (request.kind == AccessKind::write) {
    array_.validate(place, request.byte_mask);
  } else {
    // Performed below: the copy here is out of date.
    evict(place, start);
    array_.clear(place);
  }
  return Stall::none;
}

std::uint32_t CacheSlice::start_fetch(std::uint32_t place, const LineRequest& request,
                                      Ticks start) {
  const std::uint32_t index = free_mshrs_.back();
  free_mshrs_.pop_back();
  Mshr& mshr = mshrs_[index];
  mshr = Mshr{};
  mshr.place = place;
  mshr.client = request.client;
  add_target(mshr, request);
  send_fetch(index, request, start);
  return index;
}

void CacheSlice::add_target(Mshr& mshr, const LineRequest& request) {
  const std::uint32_t index = free_targets_.back();
  free_targets_.pop_back();
  targets_[index].request = request;
  targets_[index].next = none;
  if (mshr.targets++ == 0) {
    mshr.first_target = index;
  } else {
    targets_[mshr.last_target].next = index;
  }
  mshr.last_target = index;
}

Ticks CacheSlice::reserve_data(Ticks earliest, std::uint32_t bytes) {
  const Ticks first = std::max(earliest, data_free_);
  const Ticks busy = cycles_of(bytes) * cycle_;
  data_free_ = first + busy;
  counts_.data_ticks += busy;
  return data_free_;
}

Ticks CacheSlice::bank_time(std::uint32_t bytes) const {
  return cycles_of(bytes * parameters_.banks) * cycle_;
}

}  // namespace fm
