// What a cache level counts, and the laws its counts obey.

#include "sim/memory/cache_level.hpp"

namespace fm {
namespace {

using Table = TrafficCounts::Table;

void add_table(CounterRegistry& registry, const std::string& name, const std::string& unit,
               const std::string& description, const Table& table, AccessKind kind) {
  for (const auto& row : table) registry.add(name, unit, description, &row[index_of(kind)]);
}

void add_to(Table* sum, const Table& table) {
  for (std::size_t client = 0; client < table.size(); ++client) {
    for (std::size_t kind = 0; kind < table[client].size(); ++kind) {
      (*sum)[client][kind] += table[client][kind];
    }
  }
}

void check(std::vector<ResultCheck>* checks, const std::string& law, std::uint64_t left,
           std::uint64_t right) {
  checks->push_back({law, static_cast<double>(left), static_cast<double>(right)});
}

}  // namespace

CacheCounts CacheLevel::counts() const {
  CacheCounts sum;
  for (const CacheSlice& slice : slices_) {
    const CacheCounts& one = slice.counts();
    add_to(&sum.accepted, one.accepted);
    add_to(&sum.hits, one.hits);
    add_to(&sum.primary_misses, one.primary_misses);
    add_to(&sum.merges, one.merges);
    add_to(&sum.bypasses, one.bypasses);
    sum.fetches += one.fetches;
    sum.unfetched_allocations += one.unfetched_allocations;
    sum.fills += one.fills;
    sum.clean_evictions += one.clean_evictions;
    sum.dirty_evictions += one.dirty_evictions;
    sum.partial_evictions += one.partial_evictions;
    sum.writes_below += one.writes_below;
    sum.writes_acknowledged += one.writes_acknowledged;
    sum.flushed += one.flushed;
    sum.retries += one.retries;
    sum.stall_mshr_ticks += one.stall_mshr_ticks;
    sum.stall_target_ticks += one.stall_target_ticks;
    sum.stall_victim_ticks += one.stall_victim_ticks;
    sum.stall_write_buffer_ticks += one.stall_write_buffer_ticks;
    sum.data_ticks += one.data_ticks;
    sum.request_ticks += one.request_ticks;
    sum.wait_ticks += one.wait_ticks;
    sum.bank_conflicts += one.bank_conflicts;
    sum.bank_conflict_ticks += one.bank_conflict_ticks;
    sum.written_bytes += one.written_bytes;
  }
  return sum;
}

void CacheLevel::append_checks(std::vector<ResultCheck>* checks) const {
  const CacheCounts sum = counts();
  const std::string name = basename();
  for (std::size_t client = 0; client < memory_client_count; ++client) {
    for (std::size_t kind = 0; kind < access_kind_count; ++kind) {
      const std::uint64_t accepted = sum.accepted[client][kind];
      if (accepted == 0 && above_.requests[client][kind] == 0) continue;
      const std::string who = " (" + to_string(static_cast<MemoryClient>(client)) + " " +
                              to_string(static_cast<AccessKind>(kind)) + ")";
      check(checks, name + ": accepted = hits + primary misses + merges + bypasses" + who, accepted,
            sum.hits[client][kind] + sum.primary_misses[client][kind] + sum.merges[client][kind] +
                sum.bypasses[client][kind]);
      check(checks, name + ": requests arrived = accepted" + who, above_.requests[client][kind],
            accepted);
      check(checks, name + ": requests arrived = answers given" + who,
            above_.requests[client][kind], above_.answers[client][kind]);
    }
  }
  const std::uint64_t reads_passed =
      total(sum.bypasses, AccessKind::read) + total(sum.bypasses, AccessKind::atomic);
  check(checks, name + ": fetches = primary misses - unfetched allocations + bypassed reads",
        sum.fetches, total(sum.primary_misses) - sum.unfetched_allocations + reads_passed);
  check(checks, name + ": fetches = fills", sum.fetches, sum.fills);
  check(checks, name + ": writes below = dirty evictions + bypassed writes", sum.writes_below,
        sum.dirty_evictions + total(sum.bypasses, AccessKind::write));
  check(checks, name + ": writes below = writes acknowledged", sum.writes_below,
        sum.writes_acknowledged);
  check_latencies(checks);
}

void CacheLevel::check_latencies(std::vector<ResultCheck>* checks) const {
  std::uint64_t reads = 0, timed = 0, fetches = 0;
  for (std::size_t client = 0; client < memory_client_count; ++client) {
    reads += above_.answers[client][index_of(AccessKind::read)] +
             above_.answers[client][index_of(AccessKind::atomic)];
    for (const std::uint64_t count : read_latencies_[client].counts()) timed += count;
    for (const std::uint64_t count : external_latencies_[client].counts()) fetches += count;
  }
  check(checks, std::string(basename()) + ": read latencies counted = reads answered", timed,
        reads);
  check(checks, std::string(basename()) + ": external read latencies counted = fills", fetches,
        counts().fills);
}

void CacheLevel::register_counters(CounterRegistry& registry) const {
  const std::string prefix = parameters_.name + ".";
  const auto add = [&](const std::string& name, const std::string& unit,
                       const std::string& description, const std::uint64_t& cell) {
    registry.add(prefix + name, unit, description, &cell);
  };
  registry.follow(above_);
  registry.follow(below_counts_);
  registry.follow(read_latencies());
  registry.follow(external_latencies());
  for (const CacheSlice& slice : slices_) {
    const CacheCounts& one = slice.counts();
    registry.follow(one);
    const auto table = [&](const std::string& name, const std::string& description,
                           const Table& cells, AccessKind kind) {
      add_table(registry, prefix + name, "lines", description, cells, kind);
    };
    table("read_lookups", "Line reads looked up (Arm L2_READ_LOOKUP, Adreno UCHE_READ_REQUESTS)",
          one.accepted, AccessKind::read);
    table("write_lookups",
          "Line writes looked up (Arm L2_WRITE_LOOKUP, Adreno UCHE_WRITE_REQUESTS)", one.accepted,
          AccessKind::write);
    table("atomic_lookups", "Atomic operations looked up", one.accepted, AccessKind::atomic);
    table("read_hits", "Line reads that found their bytes", one.hits, AccessKind::read);
    table("write_hits", "Line writes that found their line", one.hits, AccessKind::write);
    table("read_misses", "Line reads that began a fetch", one.primary_misses, AccessKind::read);
    table("write_misses", "Line writes that took a new line", one.primary_misses,
          AccessKind::write);
    table("read_merges", "Line reads that joined a fetch under way", one.merges, AccessKind::read);
    table("write_merges", "Line writes that joined a fetch under way", one.merges,
          AccessKind::write);
    table("read_bypasses", "Reads passed on without a line", one.bypasses, AccessKind::read);
    table("write_bypasses", "Writes passed on without a line", one.bypasses, AccessKind::write);
    for (std::size_t client = 0; client < memory_client_count; ++client) {
      const std::string who = to_string(static_cast<MemoryClient>(client));
      for (const std::uint64_t& cell : one.accepted[client]) {
        registry.add(prefix + who + "_lookups", "lines", "Lookups on behalf of " + who, &cell);
      }
      for (const std::uint64_t& cell : one.hits[client]) {
        registry.add(prefix + who + "_hits", "lines", "Hits on behalf of " + who, &cell);
      }
    }
    add("fetches", "lines", "Reads of the level below (Arm L2_EXT_READ)", one.fetches);
    add("writes_below", "lines", "Writes to the level below (Arm L2_EXT_WRITE)", one.writes_below);
    add("clean_evictions", "lines", "Valid lines replaced", one.clean_evictions);
    add("dirty_evictions", "lines", "Lines written back (Adreno UCHE_EVICTS)", one.dirty_evictions);
    add("partial_evictions", "lines", "Lines written back of which only a part was dirty",
        one.partial_evictions);
    add("flushed", "lines", "Lines dropped by cache maintenance", one.flushed);
    add("retries", "lookups", "Lookups repeated after a stall", one.retries);
    add("stall_mshr", "ps", "Slices stood still: no MSHR free", one.stall_mshr_ticks);
    add("stall_target", "ps", "Slices stood still: a line's merge list was full",
        one.stall_target_ticks);
    add("stall_victim", "ps", "Slices stood still: every way was being fetched",
        one.stall_victim_ticks);
    add("stall_write_buffer", "ps", "Slices stood still: write buffer full (Arm L2_EXT_W_STALL)",
        one.stall_write_buffer_ticks);
    add("data_busy", "ps", "Data ports were busy, all slices", one.data_ticks);
    add("request_busy", "ps",
        "Request ports were busy, all slices (Arm L2_RD_MSG_IN, L2_WR_MSG_IN)", one.request_ticks);
    add("request_wait", "ps",
        "Sum over requests, from arrival to acceptance (Arm L2_RD_MSG_IN_STALL, Adreno "
        "UCHE_STALL_CYCLES_ARBITER)",
        one.wait_ticks);
    add("bank_conflicts", "lookups", "Lookups that found their bank busy", one.bank_conflicts);
    add("stall_bank", "ps", "Slices stood still: the bank was busy", one.bank_conflict_ticks);
  }
}

}  // namespace fm
