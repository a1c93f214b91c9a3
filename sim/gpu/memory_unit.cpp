#include "sim/gpu/memory_unit.hpp"

#include <algorithm>

namespace fm {
namespace {

std::uint32_t log2_of(std::uint32_t power) {
  return static_cast<std::uint32_t>(__builtin_ctz(power));
}

}  // namespace

MemoryUnit::MemoryUnit(Unit unit, const UnitParameters& parameters, MemoryClient client,
                       CoreLink* link, Translation* translation, Scoreboard* scoreboard)
    : unit_(unit),
      parameters_(parameters),
      client_(client),
      link_(link),
      translation_(translation),
      scoreboard_(scoreboard),
      pipe_(parameters.queue),
      sets_(parameters.cache_bytes / parameters.line_bytes / parameters.ways),
      ways_(parameters.ways),
      line_shift_(log2_of(parameters.line_bytes)),
      tags_(static_cast<std::size_t>(sets_.divisor()) * ways_, ~std::uint64_t{0}),
      last_use_(tags_.size()),
      mshr_of_(tags_.size(), no_mshr),
      valid_(tags_.size()),
      dirty_(tags_.size()),
      recent_way_(static_cast<std::size_t>(sets_.divisor())),
      mshrs_(parameters.mshrs),
      targets_(std::size_t{parameters.mshrs} * parameters.targets),
      write_credits_(parameters.write_credits) {
  for (std::uint32_t i = parameters.mshrs; i-- > 0;) free_mshrs_.push_back(i);
  for (std::size_t i = targets_.size(); i-- > 0;) {
    free_targets_.push_back(static_cast<std::uint32_t>(i));
  }
}

void MemoryUnit::start(const PlannedAccess& access, const LinePlanner& planner, AccessKind kind,
                       bool cached, std::uint32_t wave, std::uint32_t load, Cycle cycle) {
  ++counts_.accesses;
  counts_.quads += access.quads;
  if (access.index == PlannedAccess::unkept) {
    own_lines_.assign(access.lines, access.lines + access.count);
  }
  const Cycle begin = pipe_.accept(cycle, parameters_.perfect ? 1 : access.pipe_cycles);
  progress_ = {access, &planner, kind, cached, wave, load, 0, begin};
  proceed();
}

bool MemoryUnit::proceed() {
  Progress& now = progress_;
  const bool kept = now.access.index != PlannedAccess::unkept;
  while (now.next_line < now.access.count) {
    const PlannedLine& line =
        kept ? now.planner->line(now.access.index + now.next_line) : own_lines_[now.next_line];
    const std::uint64_t address = now.access.base + static_cast<std::uint64_t>(line.offset);
    const Block block = now.kind == AccessKind::read    ? read(address, line.mask)
                        : now.kind == AccessKind::write ? write(address, line.mask)
                                                        : atomic(address, line.mask);
    if (block != Block::none) {
      if (block_ == Block::none) blocked_since_ = now.next_lookup;
      block_ = block;
      return false;
    }
    ++now.next_line;
    if (!parameters_.perfect) ++now.next_lookup;
  }
  block_ = Block::none;
  return now.kind != AccessKind::write && scoreboard_->close(now.wave, now.load);
}

std::uint32_t MemoryUnit::find(std::uint64_t line_number) {
  const auto set = static_cast<std::uint32_t>(sets_.remainder(line_number));
  const std::uint32_t first = set * ways_;
  const std::uint32_t recent = first + recent_way_[set];
  if (tags_[recent] == line_number) return recent;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    if (tags_[first + way] == line_number) {
      recent_way_[set] = way;
      return first + way;
    }
  }
  return none;
}

MemoryUnit::Block MemoryUnit::read(std::uint64_t address, std::uint64_t mask) {
  if (parameters_.perfect) {
    scoreboard_->line_known(progress_.wave, progress_.load,
                            progress_.next_lookup + parameters_.latency);
    ++counts_.read_hits;
    ++counts_.accepted_reads;
    return Block::none;
  }
  const std::uint64_t number = address >> line_shift_;
  std::uint32_t place = find(number);
  if (place != none) {
    if (mshr_of_[place] != no_mshr) {
      Mshr& mshr = mshrs_[mshr_of_[place]];
      if (mshr.targets == parameters_.targets) return Block::target;
      add_target(mshr);
      ++counts_.read_merges;
    } else if ((mask & ~valid_[place]) == 0) {
      scoreboard_->line_known(progress_.wave, progress_.load,
                              progress_.next_lookup + parameters_.latency);
      ++counts_.read_hits;
    } else {
      if (free_mshrs_.empty()) return Block::mshr;
      fetch(place, address, parameters_.line_bytes, mask, AccessKind::read);
      ++counts_.read_misses;
    }
  } else {
    if (free_mshrs_.empty()) return Block::mshr;
    const Block block = take_place(number, &place);
    if (block != Block::none) return block;
    fetch(place, address, parameters_.line_bytes, mask, AccessKind::read);
    ++counts_.read_misses;
  }
  last_use_[place] = ++uses_;
  ++counts_.accepted_reads;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::write(std::uint64_t address, std::uint64_t mask) {
  const bool cached = parameters_.write_back && progress_.cached;
  const Block block =
      cached ? write_back(find(address >> line_shift_), address, mask) : write_past(address, mask);
  if (block == Block::none) ++counts_.accepted_writes;
  return block;
}

MemoryUnit::Block MemoryUnit::write_past(std::uint64_t address, std::uint64_t mask) {
  // A copy in the cache is updated in passing: nothing to look up.
  if (write_credits_ == 0) return Block::write;
  ++counts_.write_bypasses;
  send_write(address, mask, parameters_.write_line_bytes, progress_.next_lookup);
  return Block::none;
}

MemoryUnit::Block MemoryUnit::write_back(std::uint32_t place, std::uint64_t address,
                                         std::uint64_t mask) {
  if (place == none) {
    const Block block = take_place(address >> line_shift_, &place);
    if (block != Block::none) return block;
    ++counts_.write_allocations;
  } else {
    ++counts_.write_hits;
  }
  valid_[place] |= mask;
  dirty_[place] |= mask;
  last_use_[place] = ++uses_;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::atomic(std::uint64_t address, std::uint64_t mask) {
  // Performed at the L2: the line's own copy, if any, is written back and forgotten.
  if (free_mshrs_.empty()) return Block::mshr;
  const std::uint32_t place = find(address >> line_shift_);
  if (place != none && mshr_of_[place] == no_mshr) {
    if (dirty_[place] != 0) {
      if (write_credits_ == 0) return Block::write;
      clean(place, progress_.next_lookup);
    }
    tags_[place] = ~std::uint64_t{0};
    valid_[place] = 0;
  }
  fetch(none, address, parameters_.line_bytes, mask, AccessKind::atomic);
  ++counts_.accepted_atomics;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::take_place(std::uint64_t line_number, std::uint32_t* place) {
  const auto set = static_cast<std::uint32_t>(sets_.remainder(line_number));
  const std::uint32_t first = set * ways_;
  std::uint32_t victim = none;
  for (std::uint32_t i = first; i < first + ways_; ++i) {
    if (mshr_of_[i] != no_mshr) continue;
    if (victim == none || last_use_[i] < last_use_[victim]) victim = i;
  }
  if (victim == none) return Block::victim;
  if (dirty_[victim] != 0) {
    if (write_credits_ == 0) return Block::write;
    clean(victim, progress_.next_lookup);
  }
  tags_[victim] = line_number;
  valid_[victim] = 0;
  recent_way_[set] = victim - first;
  *place = victim;
  return Block::none;
}

void MemoryUnit::clean(std::uint32_t place, Cycle cycle) {
  ++counts_.write_backs;
  send_write(tags_[place] << line_shift_, dirty_[place], parameters_.line_bytes, cycle);
  dirty_[place] = 0;
}

void MemoryUnit::fetch(std::uint32_t place, std::uint64_t address, std::uint32_t bytes,
                       std::uint64_t mask, AccessKind kind) {
  const std::uint32_t index = free_mshrs_.back();
  free_mshrs_.pop_back();
  mshrs_[index] = {place, 0, none};
  if (place != none) mshr_of_[place] = static_cast<std::uint16_t>(index);
  add_target(mshrs_[index]);
  ++counts_.fetches;
  LineRequest request;
  request.address = address;
  request.bytes = bytes;
  request.byte_mask = mask;
  request.client = client_;
  request.kind = kind;
  request.tag = static_cast<std::uint32_t>(unit_) << unit_tag_shift | index;
  translation_->send(request, parameters_.line_bytes, progress_.next_lookup + 1);
}

void MemoryUnit::add_target(Mshr& mshr) {
  const std::uint32_t index = free_targets_.back();
  free_targets_.pop_back();
  targets_[index] = {progress_.wave, progress_.load, mshr.first_target};
  mshr.first_target = index;
  ++mshr.targets;
  scoreboard_->add_line(progress_.wave, progress_.load);
}

void MemoryUnit::send_write(std::uint64_t address, std::uint64_t mask, std::uint32_t line_bytes,
                            Cycle cycle) {
  --write_credits_;
  ++counts_.writes_below;
  LineRequest request;
  request.address = address;
  request.bytes = line_bytes;
  request.byte_mask = mask;
  request.client = client_;
  request.kind = AccessKind::write;
  request.tag = static_cast<std::uint32_t>(unit_) << unit_tag_shift | write_tag;
  translation_->send(request, line_bytes, cycle + 1);
}

WaveSet MemoryUnit::answer(std::uint32_t tag, Cycle cycle) {
  WaveSet waves;
  if ((tag & write_tag) != 0) {
    ++write_credits_;
    ++counts_.writes_acknowledged;
    ++link_->traffic().answers_of(client_, AccessKind::write);
    send_flush(link_->take(0, cycle));
  } else {
    fill(tag & 0xffff, link_->take(parameters_.line_bytes, cycle), &waves);
  }
  if (block_ == Block::none) return waves;
  count_block(cycle);
  progress_.next_lookup = std::max(progress_.next_lookup, cycle);
  const std::uint32_t wave = progress_.wave;
  if (proceed()) waves.add(wave);
  pipe_.hold(progress_.next_lookup);
  return waves;
}

void MemoryUnit::count_block(Cycle cycle) {
  if (cycle <= blocked_since_) return;
  const Cycle cycles = cycle - blocked_since_;
  blocked_since_ = cycle;
  switch (block_) {
    case Block::mshr:
      counts_.blocked_mshr += cycles;
      break;
    case Block::target:
      counts_.blocked_target += cycles;
      break;
    case Block::victim:
      counts_.blocked_victim += cycles;
      break;
    default:
      counts_.blocked_write += cycles;
      break;
  }
}

void MemoryUnit::fill(std::uint32_t index, Cycle cycle, WaveSet* waves) {
  Mshr& mshr = mshrs_[index];
  ++counts_.fills;
  ++link_->traffic().answers_of(client_, mshr.line != none ? AccessKind::read : AccessKind::atomic);
  if (mshr.line != none) {
    valid_[mshr.line] = full_line_mask(parameters_.line_bytes);
    mshr_of_[mshr.line] = no_mshr;
  }
  for (std::uint32_t i = mshr.first_target; i != none;) {
    const Target target = targets_[i];
    if (scoreboard_->line_done(target.wave, target.load, cycle + parameters_.latency)) {
      waves->add(target.wave);
    }
    free_targets_.push_back(i);
    i = target.next;
  }
  free_mshrs_.push_back(index);
}

void MemoryUnit::flush(Cycle cycle) {
  for (std::uint32_t place = 0; place < tags_.size(); ++place) {
    if (dirty_[place] != 0) {
      to_flush_.push_back(place);
    } else {
      tags_[place] = ~std::uint64_t{0};
      valid_[place] = 0;
    }
  }
  std::reverse(to_flush_.begin(), to_flush_.end());
  send_flush(cycle);
}

void MemoryUnit::send_flush(Cycle cycle) {
  for (; !to_flush_.empty() && write_credits_ != 0; to_flush_.pop_back()) {
    const std::uint32_t place = to_flush_.back();
    clean(place, cycle);
    tags_[place] = ~std::uint64_t{0};
    valid_[place] = 0;
  }
}

bool MemoryUnit::drained() const {
  return to_flush_.empty() && block_ == Block::none &&
         write_credits_ == parameters_.write_credits && free_mshrs_.size() == mshrs_.size();
}

Wait MemoryUnit::wait(const std::string& core) const {
  static const char* const reasons[] = {"", ", blocked for an MSHR", ", blocked for a merge target",
                                        ", blocked for a victim", ", blocked for a write credit"};
  return {core + (unit_ == Unit::texture ? " texture unit" : " load/store unit"),
          std::to_string(mshrs_.size() - free_mshrs_.size()) + " fetches and " +
              std::to_string(parameters_.write_credits - write_credits_) + " writes at the L2" +
              reasons[static_cast<int>(block_)],
          {"cluster", "l2", "mmu"},
          std::nullopt};
}

}  // namespace fm
