#pragma once
// A cache of several slices behind one SC_METHOD.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "sim/memory/block.hpp"
#include "sim/memory/cache_slice.hpp"
#include "sim/memory/memory_level.hpp"
#include "sim/stats/counter_registry.hpp"
#include "sim/stats/latency_histogram.hpp"

namespace fm {

class CacheLevel : public Block, public MemoryLevel, public LineSink, private CacheSlice::Outlet {
 public:
  /// `below` answers after `below_latency`, and gets requests after as long.
  CacheLevel(sc_core::sc_module_name name, const Clock& clock, const CacheParameters& parameters,
             MemoryLevel* below, Ticks below_latency);

  std::uint16_t attach(LineSink* sink, Ticks latency) override;
  void receive(const LineRequest& request) override;
  void answer(const LineAnswer& answer) override;
  std::uint32_t line_bytes() const override { return parameters_.line_bytes; }
  std::string level_name() const override { return parameters_.name; }
  /// Drops the lines of a range at `time`; dirty ones are written below.
  void invalidate(Address first, Bytes bytes, Ticks time);
  /// As CacheSlice::touch.
  Touch touch(std::uint64_t address, MemoryClient client, bool write);
  /// As of CacheArray, of all slices.
  void mark_uses();
  Bytes bytes_unused_since_mark() const;

  /// For a level on the GPU's clock, whose sources' latencies are cycles too: from now on a cycle
  /// is `cycle` instead of `nominal`.
  void change_cycle(Ticks cycle, Ticks nominal);
  /// From now on requests take so long to the level below, not less than at first.
  void change_below_latency(Ticks latency) { below_latency_ = latency; }

  bool idle() const;
  void append_waits(std::vector<Wait>* waits) const;
  CacheCounts counts() const;  ///< over all slices
  const CacheParameters& parameters() const { return parameters_; }
  /// Requests accepted and answers given, over the edges above; requests sent and answers taken,
  /// over the edge below.
  const TrafficCounts& above() const { return above_; }
  const TrafficCounts& below() const { return below_counts_; }
  /// Of reads and atomic operations, in cycles of the clock: from arrival here to the answer's
  /// leaving; and of reads sent below, from there back to here.
  using ReadLatencies = std::array<LatencyHistogram, memory_client_count>;
  using ExternalLatencies = std::array<ExternalReadHistogram, memory_client_count>;
  const ReadLatencies& read_latencies() const { return read_latencies_; }
  const ExternalLatencies& external_latencies() const { return external_latencies_; }
  /// From now on `tap` sees what arrives; it must outlive the level.
  void set_tap(RequestTap* tap) { tap_ = tap; }
  /// The same for what this level sends below, as it arrives there.
  void set_tap_below(RequestTap* tap) { tap_below_ = tap; }
  void append_checks(std::vector<ResultCheck>* checks) const;
  void register_counters(CounterRegistry& registry) const;

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  struct Source {
    LineSink* sink;
    Ticks nominal, latency;  ///< at the nominal cycle, and now
  };
  void answer(const LineRequest& request, Ticks leaves) override;
  void send_below(const LineRequest& request) override;
  void fetched(MemoryClient client, Ticks ticks) override;
  void check_latencies(std::vector<ResultCheck>* checks) const;
  std::uint64_t cycles(Ticks ticks) const { return by_period_.quotient(ticks); }

  const CacheParameters parameters_;
  const Reciprocal by_period_;  ///< of the clock
  const Divider line_size_;
  const Interleave interleave_;
  MemoryLevel* below_;
  Ticks below_latency_;
  std::uint16_t source_below_;
  std::vector<CacheSlice> slices_;
  std::vector<Source> sources_;
  std::vector<std::uint64_t> answer_order_;  ///< by slice
  std::uint32_t current_slice_ = 0;          ///< being advanced
  RequestTap* tap_ = nullptr;
  RequestTap* tap_below_ = nullptr;
  TrafficCounts above_, below_counts_;
  ReadLatencies read_latencies_{};
  ExternalLatencies external_latencies_{};
};

}  // namespace fm
