#include "sim/gpu/memory_unit.hpp"

#include <algorithm>

namespace fm {
namespace {

/// Later than any use: of lines on their way.
constexpr std::uint32_t not_a_victim = 0xffffffff;

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
      sets_(std::max<std::uint64_t>(
          1, parameters.cache_bytes / parameters.line_bytes / parameters.ways)),
      ways_(parameters.cache_bytes != 0 ? parameters.ways : 0),
      lookups_per_cycle_((parameters.bytes_per_cycle + parameters.line_bytes - 1) /
                         parameters.line_bytes),
      line_shift_(log2_of(parameters.line_bytes)),
      partial_(parameters.write_back),
      lines_(static_cast<std::size_t>(sets_.divisor()) * ways_),
      valid_(partial_ ? lines_.size() : 0),
      dirty_(partial_ ? lines_.size() : 0),
      mshrs_(parameters.mshrs),
      targets_(std::size_t{parameters.mshrs} * parameters.targets),
      write_credits_(parameters.write_credits) {
  for (std::uint32_t i = parameters.mshrs; i-- > 0;) free_mshrs_.push_back(i);
  for (std::size_t i = targets_.size(); i-- > 0;) {
    free_targets_.push_back(static_cast<std::uint32_t>(i));
  }
}

void MemoryUnit::start(const PlannedAccess& access, const SiteTraits& site, std::uint32_t wave,
                       std::uint32_t load, Cycle cycle) {
  ++counts_.accesses;
  counts_.quads += access.quads;
  const PlannedLine* lines = access.lines;
  if (!access.kept) {
    own_lines_.assign(lines, lines + access.count);
    lines = own_lines_.data();
  }
  const std::uint32_t cycles = parameters_.perfect ? 1 : access.pipe_cycles;
  const Cycle begin = pipe_.accept(cycle, cycles);
  count_cycles(site.kind, access.full, cycles);
  progress_ = {lines,          lines + access.count,
               access.base,    site.kind,
               !site.uncached, site.wide ? std::min(ways_, parameters_.wide_ways) : ways_,
               wave,           load,
               begin};
  proceed();
}

void MemoryUnit::count_cycles(AccessKind kind, bool full, std::uint32_t cycles) {
  std::uint64_t& sum = kind == AccessKind::atomic ? counts_.atomic_cycles
                       : kind == AccessKind::read
                           ? (full ? counts_.full_read_cycles : counts_.short_read_cycles)
                           : (full ? counts_.full_write_cycles : counts_.short_write_cycles);
  sum += cycles;
}

bool MemoryUnit::proceed() {
  Progress& now = progress_;
  const Block block = now.kind == AccessKind::read ? read_lines() : write_lines();
  if (block != Block::none && block_ == Block::none) blocked_since_ = now.next_lookup;
  block_ = block;
  return block == Block::none && now.kind != AccessKind::write &&
         scoreboard_->close(now.wave, now.load);
}

MemoryUnit::Block MemoryUnit::write_lines() {
  Progress& now = progress_;
  for (; now.line != now.end; ++now.line, ++now.next_lookup) {
    const std::uint64_t address = now.base + static_cast<std::uint64_t>(now.line->offset);
    const Block block = now.kind == AccessKind::write ? write(address, now.line->mask)
                                                      : atomic(address, now.line->mask);
    if (block != Block::none) return block;
  }
  return Block::none;
}

MemoryUnit::Block MemoryUnit::read_lines() {
  Progress& now = progress_;
  if (parameters_.perfect) return read_perfectly();
  const PlannedLine* line = now.line;
  Cycle lookup = now.next_lookup, last_hit = 0;
  std::uint64_t hits = 0;
  Block block = Block::none;
  // Lines narrower than the unit are looked up several a cycle.
  const auto next = [&] {
    ++line;
    if (++now.lookups == lookups_per_cycle_) {
      now.lookups = 0;
      ++lookup;
    }
  };
  for (; line != now.end; next()) {
    const std::uint64_t address = now.base + static_cast<std::uint64_t>(line->offset);
    const std::uint32_t place = find(address >> line_shift_);
    if (place != none && holds(place, line->mask)) {
      lines_[place].last_use = ++uses_;
      last_hit = lookup;
      ++hits;
      continue;
    }
    now.next_lookup = lookup;
    block = read_missing(place, address, line->mask);
    if (block != Block::none) break;
  }
  // Hits come back in order, so the last one's time is the latest.
  if (hits != 0) scoreboard_->line_known(now.wave, now.load, last_hit + parameters_.latency);
  counts_.read_hits += hits;
  counts_.accepted_reads += hits;
  now.line = line;
  now.next_lookup = lookup;
  return block;
}

MemoryUnit::Block MemoryUnit::read_perfectly() {
  Progress& now = progress_;
  const auto lines = static_cast<std::uint64_t>(now.end - now.line);
  counts_.read_hits += lines;
  counts_.accepted_reads += lines;
  scoreboard_->line_known(now.wave, now.load, now.next_lookup + parameters_.latency);
  now.line = now.end;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::read_missing(std::uint32_t place, std::uint64_t address,
                                           std::uint64_t mask) {
  if (place != none && lines_[place].mshr != no_mshr) {
    Mshr& mshr = mshrs_[lines_[place].mshr];
    if (mshr.targets == parameters_.targets) return Block::target;
    add_target(mshr);
    ++counts_.read_merges;
  } else {
    if (free_mshrs_.empty()) return Block::mshr;
    const Block block = ways_ == 0      ? Block::victim
                        : place == none ? take_place(address >> line_shift_, &place)
                                        : Block::none;
    if (block == Block::victim) {
      // No cache, or a set whose lines are all on their way: the line comes, but is not kept. (An
      // Adreno's L1 of 32 lines streams more than 32 lines a round trip.)
      fetch(none, address, parameters_.line_bytes, mask, AccessKind::read);
      ++counts_.read_bypasses;
      ++counts_.accepted_reads;
      return Block::none;
    }
    if (block != Block::none) return block;
    fetch(place, address, parameters_.line_bytes, mask, AccessKind::read);
    ++counts_.read_misses;
  }
  lines_[place].last_use = ++uses_;
  ++counts_.accepted_reads;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::write(std::uint64_t address, std::uint64_t mask) {
  const bool cached = partial_ && progress_.cached;
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
  lines_[place].last_use = ++uses_;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::atomic(std::uint64_t address, std::uint64_t mask) {
  // Performed at the L2: the line's own copy, if any, is written back and forgotten.
  if (free_mshrs_.empty()) return Block::mshr;
  const std::uint32_t place = find(address >> line_shift_);
  if (place != none && lines_[place].mshr == no_mshr) {
    if (is_dirty(place)) {
      if (write_credits_ == 0) return Block::write;
      clean(place, progress_.next_lookup);
    }
    forget(place);
  }
  fetch(none, address, parameters_.line_bytes, mask, AccessKind::atomic);
  ++counts_.accepted_atomics;
  return Block::none;
}

MemoryUnit::Block MemoryUnit::take_place(std::uint64_t line_number, std::uint32_t* place) {
  const std::uint32_t first = first_of_set(line_number);
  std::uint32_t victim = none, oldest = not_a_victim;
  for (std::uint32_t i = first; i < first + progress_.ways; ++i) {
    const Line& line = lines_[i];
    const std::uint32_t use = line.mshr == no_mshr ? line.last_use : not_a_victim;
    victim = use < oldest ? i : victim;
    oldest = std::min(use, oldest);
  }
  if (victim == none) return Block::victim;
  if (is_dirty(victim)) {
    if (write_credits_ == 0) return Block::write;
    clean(victim, progress_.next_lookup);
  }
  forget(victim);
  lines_[victim].tag = line_number;
  *place = victim;
  return Block::none;
}

void MemoryUnit::forget(std::uint32_t place) {
  lines_[place].tag = no_tag;
  if (partial_) valid_[place] = 0;
}

void MemoryUnit::clean(std::uint32_t place, Cycle cycle) {
  ++counts_.write_backs;
  send_write(lines_[place].tag << line_shift_, dirty_[place], parameters_.line_bytes, cycle);
  dirty_[place] = 0;
}

void MemoryUnit::fetch(std::uint32_t place, std::uint64_t address, std::uint32_t bytes,
                       std::uint64_t mask, AccessKind kind) {
  const std::uint32_t index = free_mshrs_.back();
  free_mshrs_.pop_back();
  mshrs_[index] = {place, 0, none, kind};
  if (place != none) lines_[place].mshr = static_cast<std::uint16_t>(index);
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
  ++link_->traffic().answers_of(client_, mshr.kind);
  if (mshr.line != none) {
    if (partial_) valid_[mshr.line] = full_line_mask(parameters_.line_bytes);
    lines_[mshr.line].mshr = no_mshr;
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
  for (std::uint32_t place = 0; place < lines_.size(); ++place) {
    if (is_dirty(place)) {
      to_flush_.push_back(place);
    } else {
      forget(place);
    }
  }
  std::reverse(to_flush_.begin(), to_flush_.end());
  send_flush(cycle);
}

void MemoryUnit::send_flush(Cycle cycle) {
  for (; !to_flush_.empty() && write_credits_ != 0; to_flush_.pop_back()) {
    const std::uint32_t place = to_flush_.back();
    clean(place, cycle);
    forget(place);
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
