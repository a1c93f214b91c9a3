#include "sim/memory/mmu.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr std::uint64_t last_level_bytes = 4096, block_bytes = 2 << 20;
constexpr std::uint32_t index_bits = 9;  // of a table of 512 entries
constexpr std::uint32_t entry_bytes = 8;
// Where no object lies, and the tables of each level apart from those of others.
constexpr std::uint64_t tables_base = std::uint64_t{1} << 45, level_stride = std::uint64_t{1} << 42;
constexpr std::uint32_t level_shift = 56;

}  // namespace

Mmu::Mmu(sc_core::sc_module_name name, const Clock& clock, const MmuParameters& parameters,
         MemoryLevel* tables, Ticks table_latency)
    : Block(name, clock, BlockWindow::ahead),
      parameters_(parameters),
      tables_(tables),
      nominal_table_latency_(table_latency),
      table_latency_(table_latency),
      source_(tables->attach(this, table_latency)),
      entries_a_page_(parameters.page_bytes /
                      (parameters.page_bytes < block_bytes ? last_level_bytes : block_bytes)),
      tlb_(parameters.entries, parameters.ways),
      walk_cache_(parameters.walk_cache_entries, parameters.walk_cache_entries),
      free_walkers_(parameters.walkers) {}

void Mmu::change_cycle(Ticks cycle, Ticks nominal) {
  for (Source& source : sources_) source.latency = source.nominal * cycle / nominal;
  if (parameters_.walks_through_l2) table_latency_ = nominal_table_latency_ * cycle / nominal;
}

std::uint16_t Mmu::attach(LineSink* sink, Ticks latency) {
  sources_.push_back({sink, latency, latency});
  return static_cast<std::uint16_t>(sources_.size() - 1);
}

void Mmu::receive(const TranslationRequest& request) {
  requests_.push(request);
  wake_by(request.time);
}

void Mmu::answer(const LineAnswer& answer) {
  answers_.push(answer);
  wake_by(answer.time);
}

Ticks Mmu::advance(Ticks, Ticks end) {
  while (true) {
    const Ticks answer = answers_.empty() ? never : answers_.front().time;
    const Ticks request = requests_.empty() ? never : std::max(requests_.front().time, pipe_free_);
    const Ticks next = std::min(answer, request);
    if (next >= end) return next;
    if (answer == next) {
      const std::uint32_t walk = answers_.front().tag;
      answers_.pop();
      ++counts_.table_answers;
      ++traffic_.answers_of(MemoryClient::mmu, AccessKind::read);
      table_read(walk, next);
    } else {
      const TranslationRequest taken = requests_.front();
      requests_.pop();
      pipe_free_ = next + clock().period_now();
      look_up(taken, next);
    }
  }
}

void Mmu::look_up(const TranslationRequest& request, Ticks time) {
  ++counts_.requests;
  const Waiter waiter{request.source, request.tag};
  if (tlb_.find(request.page)) {
    ++counts_.hits;
    return reply(waiter, time);
  }
  for (Walk& walk : walks_) {
    if (walk.level == none || walk.page != request.page) continue;
    ++counts_.merges;
    walk.waiters.push_back(waiter);
    return;
  }
  ++counts_.walks;
  if (free_walks_.empty()) {
    free_walks_.push_back(static_cast<std::uint32_t>(walks_.size()));
    walks_.emplace_back();
  }
  const std::uint32_t index = free_walks_.back();
  free_walks_.pop_back();
  Walk& walk = walks_[index];
  walk.page = request.page;
  walk.level = 0;
  walk.asked = time;
  walk.waiters.assign(1, waiter);
  ++walks_under_way_;
  if (free_walkers_ == 0) {
    queue_.push_back(index);
  } else {
    start_walk(index, time);
  }
}

std::uint64_t Mmu::entry(std::uint64_t page, std::uint32_t level) const {
  return page * entries_a_page_ >> (index_bits * (parameters_.levels - level));
}

void Mmu::start_walk(std::uint32_t index, Ticks time) {
  --free_walkers_;
  Walk& walk = walks_[index];
  counts_.queued_ticks += time - walk.asked;
  // Each entry of an upper level that is kept says where the table below it lies.
  walk.level = 1;
  for (std::uint32_t level = parameters_.levels; level > 1; --level) {
    if (!walk_cache_.find(std::uint64_t{level} << level_shift | entry(walk.page, level - 1))) {
      continue;
    }
    walk.level = level;
    break;
  }
  counts_.upper_reads_saved += walk.level - 1;
  read_table(index, time);
}

void Mmu::read_table(std::uint32_t index, Ticks time) {
  const Walk& walk = walks_[index];
  ++(walk.level == parameters_.levels ? counts_.leaf_reads : counts_.table_reads);
  LineRequest request;
  request.time = time + table_latency_;
  request.address =
      tables_base + walk.level * level_stride + entry(walk.page, walk.level) * entry_bytes;
  request.bytes = entry_bytes;
  request.byte_mask = range_mask(request.address, entry_bytes, tables_->line_bytes());
  request.sequence = sequence_++;
  request.tag = index;
  request.source = source_;
  request.client = MemoryClient::mmu;
  ++traffic_.requests_of(MemoryClient::mmu, AccessKind::read);
  tables_->receive(request);
}

void Mmu::table_read(std::uint32_t index, Ticks time) {
  Walk& walk = walks_[index];
  if (walk.level == parameters_.levels) return finish(index, time);
  const std::uint64_t key =
      std::uint64_t{walk.level + 1} << level_shift | entry(walk.page, walk.level);
  // Walks side by side may have read it twice.
  if (!walk_cache_.find(key)) walk_cache_.insert(key);
  ++walk.level;
  read_table(index, time);
}

void Mmu::finish(std::uint32_t index, Ticks time) {
  Walk& walk = walks_[index];
  counts_.walk_ticks += time - walk.asked;
  tlb_.insert(walk.page);
  for (const Waiter& waiter : walk.waiters) reply(waiter, time);
  walk.level = none;
  free_walks_.push_back(index);
  --walks_under_way_;
  ++free_walkers_;
  if (queue_.empty()) return;
  const std::uint32_t next = queue_.front();
  queue_.pop_front();
  start_walk(next, time);
}

void Mmu::reply(const Waiter& waiter, Ticks time) {
  ++counts_.answers;
  const Source& source = sources_[waiter.source];
  // The order's top marks the sender: caches put slice numbers there.
  constexpr std::uint64_t sender = std::uint64_t{0xffff} << 48;
  source.sink->answer({time + source.latency, sender | answer_order_++, waiter.tag});
}

void Mmu::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  Wait wait;
  wait.block = "mmu";
  wait.state = std::to_string(requests_.size()) + " requests queued, " +
               std::to_string(walks_under_way_) + " pages being walked, " +
               std::to_string(queue_.size()) + " of them waiting for a walker";
  // Whichever level its tables are read from.
  if (walks_under_way_ != 0) wait.waits_for = {"l2", "slc"};
  waits->push_back(wait);
}

void Mmu::register_counters(CounterRegistry& registry) const {
  registry.follow(counts_);
  registry.follow(traffic_);
  const bool blocks = parameters_.page_bytes >= block_bytes;
  registry.add("mmu.requests", "translations",
               "Translations the cores' TLBs asked for (Arm MMU_REQUESTS)", &counts_.requests);
  registry.add(
      "mmu.hits", "translations",
      std::string("Of them, held by the shared TLB (Arm MMU_HIT_") + (blocks ? "L2)" : "L3)"),
      &counts_.hits);
  registry.add("mmu.merges", "translations", "Of them, pages already being walked",
               &counts_.merges);
  registry.add("mmu.walks", "walks", "Of them, page walks begun", &counts_.walks);
  registry.add(
      "mmu.leaf_reads", "reads",
      std::string("Last entries read by walks (Arm MMU_TABLE_READS_") + (blocks ? "L2)" : "L3)"),
      &counts_.leaf_reads);
  registry.add("mmu.table_reads", "reads", "Entries of upper tables read by walks",
               &counts_.table_reads);
  registry.add("mmu.upper_reads_saved", "reads", "Entries of upper tables the walk cache held",
               &counts_.upper_reads_saved);
  registry.add("mmu.walk_time", "ps", "Sum over walks, from the miss to the translation",
               &counts_.walk_ticks);
  registry.add("mmu.walk_wait", "ps", "Of it, waiting for a walker", &counts_.queued_ticks);
}

void Mmu::append_checks(std::vector<ResultCheck>* checks) const {
  const auto check = [&](const std::string& law, std::uint64_t left, std::uint64_t right) {
    checks->push_back({law, static_cast<double>(left), static_cast<double>(right)});
  };
  check("mmu: requests = hits + merges + walks", counts_.requests,
        counts_.hits + counts_.merges + counts_.walks);
  check("mmu: requests = answers", counts_.requests, counts_.answers);
  check("mmu: walks = last entries read", counts_.walks, counts_.leaf_reads);
  check("mmu: walks x levels = entries read + entries the walk cache held",
        counts_.walks * parameters_.levels,
        counts_.leaf_reads + counts_.table_reads + counts_.upper_reads_saved);
  check("mmu: entries asked for = entries read", counts_.leaf_reads + counts_.table_reads,
        counts_.table_answers);
}

}  // namespace fm
