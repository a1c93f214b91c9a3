#include "sim/memory/dram_accounts.hpp"

namespace fm {

void register_counters(const DramSystem& dram, CounterRegistry& registry) {
  registry.follow(dram.traffic());
  for (const auto& channel : dram.channels()) {
    const DramCounts& counts = channel->counts();
    registry.follow(counts);
    const auto add = [&](const char* name, const char* unit, const char* description,
                         const std::uint64_t& cell) {
      registry.add(std::string("dram.") + name, unit, description, &cell);
    };
    add("read_bursts", "bursts", "Read column commands (Arm L2_EXT_READ_BEATS counts 16 B each)",
        counts.read_bursts);
    add("write_bursts", "bursts", "Write column commands", counts.write_bursts);
    add("row_hits", "requests", "Requests whose row was open", counts.row_hits);
    add("row_misses", "requests", "Requests that opened a row in a closed bank", counts.row_misses);
    add("row_conflicts", "requests", "Requests that closed another row first",
        counts.row_conflicts);
    add("forwarded", "requests", "Reads answered from a write that still waited", counts.forwarded);
    add("activations", "commands", "Row activations", counts.activations);
    add("precharges", "rows", "Rows closed, by any command", counts.precharges);
    add("precharge_alls", "commands", "Precharges of all banks", counts.precharge_alls);
    add("refreshes", "commands", "All-bank refreshes", counts.refreshes);
    add("bank_refreshes", "commands", "Per-bank refreshes", counts.bank_refreshes);
    add("wck_syncs", "commands", "The data clock was restarted for a burst", counts.wck_syncs);
    add("turnarounds", "times", "The data bus changed direction", counts.turnarounds);
    add("busy", "clocks", "Data buses were busy, all channels, in command clocks",
        counts.busy_clocks);
    add("slow", "clocks", "Of them, what bursts took longer at a data rate below the highest",
        counts.slow_clocks);
    add("queued", "clocks",
        "Sum over requests, from entry into the scheduler's queue to the last command",
        counts.queued_clocks);
    add("read_latency", "ps", "Sum over reads, from arrival at the channel to the last data",
        counts.read_latency);
    for (std::size_t client = 0; client < memory_client_count; ++client) {
      const std::string who = to_string(static_cast<MemoryClient>(client));
      for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
        registry.add("dram." + who + "_" + to_string(kind) + "_bursts", "bursts",
                     "Bursts on behalf of " + who, &counts.bursts[client][index_of(kind)]);
      }
    }
  }
}

void append_dram_checks(const DramSystem& dram, const CacheLevel& above,
                        std::vector<ResultCheck>* checks) {
  const auto check = [&](const std::string& law, std::uint64_t left, std::uint64_t right) {
    checks->push_back({law, static_cast<double>(left), static_cast<double>(right)});
  };
  std::uint64_t served = 0, rows = 0, burst_sum = 0, bursts = 0, busy = 0;
  std::uint64_t opened = 0, left_open = 0, closed = 0;
  for (const auto& channel : dram.channels()) {
    const DramCounts& counts = channel->counts();
    served += total(counts.requests);
    rows += counts.row_hits + counts.row_misses + counts.row_conflicts + counts.forwarded;
    burst_sum += total(counts.bursts);
    bursts += counts.read_bursts + counts.write_bursts;
    busy += counts.busy_clocks - counts.slow_clocks;
    opened += counts.activations;
    closed += counts.precharges;
    left_open += channel->open_rows();
  }
  check("dram: requests served = row hits + misses + conflicts + forwarded", served, rows);
  check("dram: requests arrived = requests served", total(dram.traffic().requests), served);
  check("dram: bytes moved = bursts of all clients x burst size", dram.bytes_moved(),
        burst_sum * dram.parameters().burst_bytes);
  check("dram: bus time at the highest data rate = bursts x burst time", busy,
        bursts * dram.parameters().timing.burst);
  check("dram: rows opened = rows closed + rows left open", opened, closed + left_open);
  for (std::size_t client = 0; client < memory_client_count; ++client) {
    for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
      const std::uint64_t sent = above.below().requests[client][index_of(kind)];
      if (sent == 0) continue;
      const std::string who =
          " (" + to_string(static_cast<MemoryClient>(client)) + " " + to_string(kind) + ")";
      check("slc to dram: requests sent = requests arrived" + who, sent,
            dram.traffic().requests[client][index_of(kind)]);
      check("dram: requests arrived = answers given" + who,
            dram.traffic().requests[client][index_of(kind)],
            dram.traffic().answers[client][index_of(kind)]);
    }
  }
}

}  // namespace fm
