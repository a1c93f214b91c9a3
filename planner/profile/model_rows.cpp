#include "planner/profile/model_rows.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

constexpr double texel_bytes = 8;     // four halves
constexpr double texels_at_once = 4;  // kernels/streaming.clh: FM_STREAM_RUN
constexpr double widest_run = 64;     // texels: beyond, a wave's accesses are whole lines anyway
/// Integer operations of a quotient or remainder, as they are recorded.
constexpr double division_operations = 16;

/// Parts of a launch at the device's full rates, nanoseconds.
struct Parts {
  double arithmetic = 0, loads = 0, dram = 0;
  double waits = 0;  ///< for loads, one after the other
  double other = 0;  ///< special functions and divisions
};

/// Work-items in flight on the whole GPU (sim/gpu/occupancy.hpp has the rules), at most all.
double in_flight(const LaunchFacts& facts, double extra_registers) {
  const LaunchNumbers& n = facts.numbers;
  const DeviceRates& r = facts.rates;
  const double registers = (r.isa == "adreno"    ? n.adreno
                            : r.isa == "bifrost" ? n.bifrost
                                                 : n.valhall) +
                           extra_registers;
  const double slots = registers > r.full_occupancy_registers ? std::floor(r.waves / 2) : r.waves;
  const double waves =
      std::min(slots, std::floor(r.registers / std::max(1.0, registers * r.wave_width)));
  const double group_waves = std::ceil(n.group_items / r.wave_width);
  double groups = std::min(std::floor(waves / group_waves), r.workgroups);
  if (n.local_bytes > 0) groups = std::min(groups, std::floor(r.local_bytes / n.local_bytes));
  return std::min(n.items, std::max(1.0, groups) * n.group_items * r.cores);
}

double busy_cores(const LaunchFacts& facts) {
  return std::min(facts.rates.cores, facts.numbers.groups);
}

Parts parts_of(const LaunchFacts& facts) {
  const LaunchNumbers& n = facts.numbers;
  const DeviceRates& r = facts.rates;
  Parts parts;
  parts.arithmetic = n.macs / r.fma;
  // Loads go to textures and buffers as the tensors' bytes do.
  const double from_images = n.read() > 0 ? n.image_read / n.read() : 0;
  parts.loads = n.loads * (from_images / r.texels + (1 - from_images) / r.lanes);
  parts.dram = (n.read() + n.written()) / r.dram_bytes;
  const double rounds = std::max(1.0, n.items / in_flight(facts, 0));
  parts.waits = n.waits * rounds * r.near_latency;
  parts.other = n.special * n.written() / 2 / r.special +
                n.divisions * n.items * division_operations / r.integer;
  return parts;
}

struct StreamingParts {
  double loads = 0, stores = 0, links = 0;
  double sum() const { return loads + stores + links; }
};

StreamingParts streaming_parts(const LaunchFacts& facts, double bytes) {
  const DeviceRates& r = facts.rates;
  const double flying = in_flight(facts, r.streaming_registers);
  StreamingParts parts;
  parts.loads = bytes / (texel_bytes * texels_at_once * flying) * r.latency;
  parts.stores = bytes / (busy_cores(facts) * r.store_bytes) * r.latency;
  parts.links = 2 * bytes / std::min(r.dram_bytes, r.slc_bytes);
  return parts;
}

float log_of(double value) { return static_cast<float>(std::log2(std::max(value, 1e-6))); }

}  // namespace

double parts_in_turn(const LaunchFacts& facts) {
  const Parts parts = parts_of(facts);
  // A wait is for a hit in the core's cache or for one far away: twice the former on average.
  return facts.rates.launch_overhead + parts.arithmetic + parts.loads + parts.dram +
         2 * parts.waits + parts.other;
}

double streaming_alone(const LaunchFacts& facts, Bytes streamed) {
  return streaming_parts(facts, static_cast<double>(streamed.count())).sum();
}

ModelRow bare_row(const LaunchFacts& facts) {
  const Parts parts = parts_of(facts);
  const LaunchNumbers& n = facts.numbers;
  const DeviceRates& r = facts.rates;
  const double whole = parts_in_turn(facts), flying = in_flight(facts, 0);
  const double read = std::max(1.0, n.read()), written = std::max(1.0, n.written());
  return {log_of(parts.arithmetic / whole),
          log_of(parts.loads / whole),
          log_of(parts.dram / whole),
          log_of(parts.waits / whole),
          log_of(parts.other / whole),
          log_of(r.launch_overhead / whole),
          log_of(whole),
          log_of(flying / (r.cores * r.wave_width)),
          log_of(n.items / flying),
          log_of(n.groups / r.cores),
          static_cast<float>(n.transposed),
          static_cast<float>(n.pipelined),
          log_of((read + written) / r.slc_size),
          log_of(n.loads * texel_bytes / read),
          log_of(n.image_read / read),
          log_of(read / written),
          log_of(r.latency / r.near_latency),
          log_of(r.latency)};
}

ModelRow streamed_row(const LaunchFacts& facts, Nanoseconds time, Bytes streamed) {
  const Parts parts = parts_of(facts);
  const LaunchNumbers& n = facts.numbers;
  const DeviceRates& r = facts.rates;
  const auto whole = static_cast<double>(time.count());
  const auto bytes = static_cast<double>(streamed.count());
  const StreamingParts streaming = streaming_parts(facts, bytes);
  const double flying = in_flight(facts, 0), moved = n.read() + n.written();
  const double own_stores = n.written() / (busy_cores(facts) * r.store_bytes) * r.latency;
  return {log_of(streaming.sum() / whole),
          log_of(streaming.loads / streaming.sum()),
          log_of(streaming.stores / streaming.sum()),
          log_of(streaming.links / streaming.sum()),
          log_of(parts.arithmetic / whole),
          log_of(parts.loads / whole),
          log_of(parts.dram / whole),
          log_of(parts.waits / whole),
          log_of(parts.other / whole),
          log_of(own_stores / whole),
          log_of(r.launch_overhead / whole),
          static_cast<float>(n.pipelined),
          log_of(n.iterations),
          log_of(bytes / texel_bytes / n.items / n.iterations),
          log_of(flying / (r.cores * r.wave_width)),
          log_of(n.items / flying),
          log_of(in_flight(facts, r.streaming_registers) / flying),
          log_of((bytes + moved) / r.slc_size),
          log_of(moved / r.slc_size),
          log_of(n.groups / r.cores),
          log_of(std::min(widest_run, n.run)),
          log_of(bytes / r.l2_size)};
}

}  // namespace fm
