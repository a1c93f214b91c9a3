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
    lines_.resize(static_cast<std::size_t>(lines));
    tags_.assign(lines_.size(), ~std::uint64_t{0});
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
  Line* line = find(tag);
  if (line != nullptr && line->mshr != none) return merge(*line, request);
  if (line != nullptr &&
      (request.kind == AccessKind::write || (request.byte_mask & ~line->valid) == 0)) {
    return hit(*line, request, start);
  }
  if (line == nullptr && (lines_.empty() || parameters_.ways_for[index_of(request.client)] == 0)) {
    return bypass(request, start);
  }
  return miss(tag, line, request, start);
}

CacheSlice::Stall CacheSlice::hit(Line& line, const LineRequest& request, Ticks start) {
  line.last_use = ++uses_;
  if (request.kind != AccessKind::read) {
    line.dirty |= request.byte_mask;
    line.valid |= request.byte_mask;
    line.owner = request.client;
  }
  ++counts_.hits[index_of(request.client)][index_of(request.kind)];
  outlet_->answer(request, reserve_data(start + parameters_.latency, request.bytes));
  return Stall::none;
}

CacheSlice::Stall CacheSlice::merge(Line& line, const LineRequest& request) {
  Mshr& mshr = mshrs_[line.mshr];
  if (mshr.targets == parameters_.targets) return Stall::target;
  line.last_use = ++uses_;
  add_target(mshr, request);
  ++counts_.merges[index_of(request.client)][index_of(request.kind)];
  return Stall::none;
}

CacheSlice::Stall CacheSlice::miss(std::uint64_t tag, Line* present, const LineRequest& request,
                                   Ticks start) {
  const bool fetch = request.kind != AccessKind::write ||
                     (parameters_.fetch_partial_writes && request.byte_mask != full_mask_);
  if (fetch && free_mshrs_.empty()) return Stall::mshr;
  Line* line = present != nullptr ? present : victim(tag, request.client);
  if (line == nullptr) return Stall::victim;
  if (present == nullptr) {
    if (line->dirty != 0 && write_credits_ <= 0) return Stall::write_buffer;
    evict(*line, start);
    take(*line, tag);
  }
  line->last_use = ++uses_;
  ++counts_.primary_misses[index_of(request.client)][index_of(request.kind)];
  if (!fetch) {
    ++counts_.unfetched_allocations;
    line->valid = line->dirty = request.byte_mask;
    line->owner = request.client;
    outlet_->answer(request, reserve_data(start + parameters_.latency, request.bytes));
    return Stall::none;
  }
  const std::uint32_t index = free_mshrs_.back();
  free_mshrs_.pop_back();
  mshrs_[index] = Mshr{};
  mshrs_[index].line = static_cast<std::uint32_t>(line - lines_.data());
  line->mshr = index;
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
  Line* line = mshr.line == none ? nullptr : &lines_[mshr.line];
  if (line != nullptr) {
    line->valid = full_mask_;
    line->mshr = none;
  }
  for (std::uint32_t i = mshr.first_target; i != none;) {
    Target& target = targets_[i];
    if (line != nullptr && target.request.kind != AccessKind::read) {
      line->dirty |= target.request.byte_mask;
      line->owner = target.request.client;
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
  if (last - first < lines_.size()) {
    for (std::uint64_t tag = first; tag < last; ++tag) {
      if (Line* line = find(tag)) drop(*line, maintenance.time);
    }
    return;
  }
  for (Line& line : lines_) {
    const std::uint64_t tag = tag_of(line);
    if (tag >= first && tag < last) drop(line, maintenance.time);
  }
}

void CacheSlice::drop(Line& line, Ticks time) {
  if (line.mshr != none) return;
  // Maintenance takes no credit: it may run ahead of the write buffer, and requests then wait for
  // it to drain.
  evict(line, time);
  ++counts_.flushed;
  take(line, ~std::uint64_t{0});
}

CacheSlice::Line* CacheSlice::find(std::uint64_t tag) {
  if (lines_.empty()) return nullptr;
  const std::size_t first = set_of(tag) * parameters_.ways;
  for (std::size_t place = first; place < first + parameters_.ways; ++place) {
    if (tags_[place] == tag) return &lines_[place];
  }
  return nullptr;
}

CacheSlice::Line* CacheSlice::victim(std::uint64_t tag, MemoryClient client) {
  Line* set = &lines_[set_of(tag) * parameters_.ways];
  Line* oldest = nullptr;
  const std::uint32_t ways = std::min(parameters_.ways, parameters_.ways_for[index_of(client)]);
  for (std::uint32_t way = 0; way < ways; ++way) {
    if (set[way].mshr != none) continue;
    if (oldest == nullptr || set[way].last_use < oldest->last_use) oldest = &set[way];
  }
  return oldest;
}

void CacheSlice::take(Line& line, std::uint64_t tag) {
  line = Line{};
  tag_of(line) = tag;
}

void CacheSlice::evict(Line& line, Ticks start) {
  if (line.dirty == 0) {
    if (line.valid != 0) ++counts_.clean_evictions;
    return;
  }
  ++counts_.dirty_evictions;
  if (line.dirty != full_mask_) ++counts_.partial_evictions;
  LineRequest write;
  write.address = tag_of(line) * parameters_.line_bytes;
  write.bytes = parameters_.line_bytes;
  write.byte_mask = line.dirty;
  write.client = line.owner;
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
  if (mshrs_[mshr_index].line != none) {
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
