#include "sim/memory/cache_slice.hpp"

#include <algorithm>

namespace fm {

CacheSlice::CacheSlice(const CacheParameters& parameters, std::uint32_t index, Outlet* outlet)
    : parameters_(parameters),
      index_(index),
      outlet_(outlet),
      line_size_(parameters.line_bytes),
      slice_count_(parameters.slices),
      full_mask_(full_line_mask(parameters.line_bytes)),
      mshrs_(parameters.mshrs),
      targets_(std::size_t{parameters.mshrs} * parameters.targets),
      write_credits_(parameters.write_buffer) {
  if (parameters_.bytes != 0) {
    const std::uint64_t lines = parameters_.bytes / parameters_.slices / parameters_.line_bytes;
    set_count_ = Divider(lines / parameters_.ways);
    tags_.assign(static_cast<std::size_t>(lines), no_tag);
    last_use_.resize(tags_.size());
    mshr_of_.assign(tags_.size(), no_mshr);
    valid_.resize(tags_.size());
    dirty_.resize(tags_.size());
    owner_.resize(tags_.size());
  }
  for (std::uint32_t i = parameters_.mshrs; i-- > 0;) free_mshrs_.push_back(i);
  for (std::size_t i = targets_.size(); i-- > 0;)
    free_targets_.push_back(static_cast<std::uint32_t>(i));
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
  const LineRequest request = requests_.front();
  const Stall stall = lookup(request, start);
  pipe_free_ = start + parameters_.cycle;
  if (stall != Stall::none) {
    stall_ = stall;
    stalled_since_ = start;
    return;
  }
  ++counts_.accepted[index_of(request.client)][index_of(request.kind)];
  requests_.pop();
}

void CacheSlice::unstall(Ticks time) {
  if (stall_ == Stall::none) return;
  const Ticks stalled = time - std::min(time, stalled_since_);
  switch (stall_) {
    case Stall::mshr:
      counts_.stall_mshr_ticks += stalled;
      break;
    case Stall::target:
      counts_.stall_target_ticks += stalled;
      break;
    case Stall::victim:
      counts_.stall_victim_ticks += stalled;
      break;
    default:
      counts_.stall_write_buffer_ticks += stalled;
      break;
  }
  ++counts_.retries;
  stall_ = Stall::none;
  pipe_free_ = std::max(pipe_free_, time);
}

CacheSlice::Stall CacheSlice::lookup(const LineRequest& request, Ticks start) {
  const std::uint64_t tag = line_size_.quotient(request.address);
  const std::uint32_t place = find(tag);
  if (place == none) {
    const bool allocates = parameters_.ways_for[index_of(request.client)] != 0;
    return allocates && !tags_.empty() ? miss(tag, none, request, start) : bypass(request, start);
  }
  if (mshr_of_[place] != no_mshr) return merge(place, request);
  if (request.kind == AccessKind::write || (request.byte_mask & ~valid_[place]) == 0) {
    return hit(place, request, start);
  }
  return miss(tag, place, request, start);
}

CacheSlice::Stall CacheSlice::hit(std::uint32_t place, const LineRequest& request, Ticks start) {
  touch(place);
  if (request.kind != AccessKind::read) {
    dirty_[place] |= request.byte_mask;
    valid_[place] |= request.byte_mask;
    owner_[place] = request.client;
  }
  ++counts_.hits[index_of(request.client)][index_of(request.kind)];
  outlet_->answer(request, reserve_data(start + parameters_.latency, request.bytes));
  return Stall::none;
}

CacheSlice::Stall CacheSlice::merge(std::uint32_t place, const LineRequest& request) {
  Mshr& mshr = mshrs_[mshr_of_[place]];
  if (mshr.targets == parameters_.targets) return Stall::target;
  touch(place);
  add_target(mshr, request);
  ++counts_.merges[index_of(request.client)][index_of(request.kind)];
  return Stall::none;
}

CacheSlice::Stall CacheSlice::miss(std::uint64_t tag, std::uint32_t present,
                                   const LineRequest& request, Ticks start) {
  const bool fetch = request.kind != AccessKind::write ||
                     (parameters_.fetch_partial_writes && request.byte_mask != full_mask_);
  if (fetch && free_mshrs_.empty()) return Stall::mshr;
  const std::uint32_t place = present != none ? present : victim(tag, request.client);
  if (place == none) return Stall::victim;
  if (present == none) {
    if (dirty_[place] != 0 && write_credits_ <= 0) return Stall::write_buffer;
    evict(place, start);
    take(place, tag);
  }
  touch(place);
  ++counts_.primary_misses[index_of(request.client)][index_of(request.kind)];
  if (!fetch) {
    ++counts_.unfetched_allocations;
    valid_[place] = dirty_[place] = request.byte_mask;
    owner_[place] = request.client;
    outlet_->answer(request, reserve_data(start + parameters_.latency, request.bytes));
    return Stall::none;
  }
  const std::uint32_t index = free_mshrs_.back();
  free_mshrs_.pop_back();
  mshrs_[index] = Mshr{};
  mshrs_[index].place = place;
  mshr_of_[place] = static_cast<std::uint16_t>(index);
  add_target(mshrs_[index], request);
  send_fetch(index, request, start);
  return Stall::none;
}

CacheSlice::Stall CacheSlice::bypass(const LineRequest& request, Ticks start) {
  if (request.kind == AccessKind::write) {
    if (write_credits_ <= 0) return Stall::write_buffer;
    send_write(request, start);
    outlet_->answer(request, reserve_data(start + parameters_.latency, request.bytes));
  } else {
    if (free_mshrs_.empty()) return Stall::mshr;
    const std::uint32_t index = free_mshrs_.back();
    free_mshrs_.pop_back();
    mshrs_[index] = Mshr{};
    add_target(mshrs_[index], request);
    send_fetch(index, request, start);
  }
  ++counts_.bypasses[index_of(request.client)][index_of(request.kind)];
  return Stall::none;
}

void CacheSlice::handle_answer(const LineAnswer& answer) {
  const std::uint32_t entry = answer.tag & 0xffff;
  if (entry == slice_write_tag) {
    ++write_credits_;
    ++counts_.writes_acknowledged;
  } else {
    below_in_free_ = std::max(answer.time, below_in_free_) + parameters_.below_line;
    fill(entry, below_in_free_);
  }
  unstall(answer.time);
}

void CacheSlice::fill(std::uint32_t mshr_index, Ticks time) {
  Mshr& mshr = mshrs_[mshr_index];
  ++counts_.fills;
  const std::uint32_t place = mshr.place;
  if (place != none) {
    valid_[place] = full_mask_;
    mshr_of_[place] = no_mshr;
  }
  for (std::uint32_t i = mshr.first_target; i != none;) {
    const Target& target = targets_[i];
    if (place != none && target.request.kind != AccessKind::read) {
      dirty_[place] |= target.request.byte_mask;
      owner_[place] = target.request.client;
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
  if (last - first < tags_.size()) {
    for (std::uint64_t tag = first; tag < last; ++tag) {
      const std::uint32_t place = find(tag);
      if (place != none) drop(place, maintenance.time);
    }
    return;
  }
  for (std::uint32_t place = 0; place < tags_.size(); ++place) {
    if (tags_[place] >= first && tags_[place] < last) drop(place, maintenance.time);
  }
}

void CacheSlice::drop(std::uint32_t place, Ticks time) {
  if (mshr_of_[place] != no_mshr) return;
  // Maintenance takes no credit: it may run ahead of the write buffer, and requests then wait for
  // it to drain.
  evict(place, time);
  ++counts_.flushed;
  take(place, no_tag);
}

std::uint32_t CacheSlice::find(std::uint64_t tag) const {
  if (tags_.empty()) return none;
  const std::size_t first = set_of(tag) * parameters_.ways;
  for (std::size_t place = first; place < first + parameters_.ways; ++place) {
    if (tags_[place] == tag) return static_cast<std::uint32_t>(place);
  }
  return none;
}

std::uint32_t CacheSlice::victim(std::uint64_t tag, MemoryClient client) const {
  const std::size_t first = set_of(tag) * parameters_.ways;
  const std::uint32_t ways = std::min(parameters_.ways, parameters_.ways_for[index_of(client)]);
  std::uint32_t oldest = none;
  for (std::size_t place = first; place < first + ways; ++place) {
    if (mshr_of_[place] != no_mshr) continue;
    if (oldest == none || last_use_[place] < last_use_[oldest]) {
      oldest = static_cast<std::uint32_t>(place);
    }
  }
  return oldest;
}

void CacheSlice::touch(std::uint32_t place) {
  if (++uses_ == 0) {
    // Once in four thousand million uses: ages keep their order but for the last bit.
    for (std::uint32_t& age : last_use_) age /= 2;
    uses_ = std::uint32_t{1} << 31;
  }
  last_use_[place] = uses_;
}

void CacheSlice::take(std::uint32_t place, std::uint64_t tag) {
  tags_[place] = tag;
  last_use_[place] = 0;
  valid_[place] = dirty_[place] = 0;
}

void CacheSlice::evict(std::uint32_t place, Ticks start) {
  if (dirty_[place] == 0) {
    if (valid_[place] != 0) ++counts_.clean_evictions;
    return;
  }
  ++counts_.dirty_evictions;
  if (dirty_[place] != full_mask_) ++counts_.partial_evictions;
  LineRequest write;
  write.address = tags_[place] * parameters_.line_bytes;
  write.bytes = parameters_.line_bytes;
  write.byte_mask = dirty_[place];
  write.client = owner_[place];
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
  below.kind = AccessKind::read;
  below.time = start + parameters_.cycle;
  below.sequence = sequence_++;
  below.tag = slice_tag(index_, mshr_index);
  if (mshrs_[mshr_index].place != none) {
    below.address = line_size_.quotient(request.address) * parameters_.line_bytes;
    below.bytes = parameters_.line_bytes;
  }
  ++counts_.fetches;
  outlet_->send_below(below);
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
  const std::uint32_t width = parameters_.bytes_per_cycle;
  const Ticks busy =
      bytes <= width ? parameters_.cycle : (bytes + width - 1) / width * parameters_.cycle;
  data_free_ = first + busy;
  counts_.data_ticks += busy;
  return data_free_;
}

bool CacheSlice::idle() const {
  return requests_.empty() && answers_.empty() && free_mshrs_.size() == mshrs_.size() &&
         write_credits_ == static_cast<std::int64_t>(parameters_.write_buffer);
}

std::string CacheSlice::waiting() const {
  if (idle()) return "";
  static const char* const reasons[] = {"", ", stalled for an MSHR", ", stalled for a merge target",
                                        ", stalled for a victim", ", stalled for its write buffer"};
  return parameters_.name + " slice " + std::to_string(index_) + ": " +
         std::to_string(requests_.size()) + " requests queued, " +
         std::to_string(mshrs_.size() - free_mshrs_.size()) + " fetches and " +
         std::to_string(static_cast<std::int64_t>(parameters_.write_buffer) - write_credits_) +
         " writes waiting for the level below" + reasons[static_cast<int>(stall_)];
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
