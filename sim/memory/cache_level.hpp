#pragma once
// A cache of several slices behind one SC_METHOD.

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
  /// Drops the lines of a range at `time`; dirty ones are written below.
  void invalidate(Address first, Bytes bytes, Ticks time);

  bool idle() const;
  void append_waiting(std::vector<std::string>* lines) const;
  CacheCounts counts() const;  ///< over all slices
  const CacheParameters& parameters() const { return parameters_; }
  /// Requests accepted and answers given, over the edges above; requests sent and answers taken,
  /// over the edge below.
  const TrafficCounts& above() const { return above_; }
  const TrafficCounts& below() const { return below_counts_; }
  void append_checks(std::vector<ResultCheck>* checks) const;
  void register_counters(CounterRegistry& registry) const;

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  struct Source {
    LineSink* sink;
    Ticks latency;
  };
  void answer(const LineRequest& request, Ticks leaves) override;
  void send_below(const LineRequest& request) override;
  std::uint32_t slice_of(std::uint64_t address) const;

  const CacheParameters parameters_;
  const Divider line_size_, slice_count_;
  MemoryLevel* below_;
  Ticks below_latency_;
  std::uint16_t source_below_;
  std::vector<CacheSlice> slices_;
  std::vector<Source> sources_;
  std::vector<std::uint64_t> answer_order_;  ///< by slice
  std::uint32_t current_slice_ = 0;          ///< being advanced
  TrafficCounts above_, below_counts_;
};

}  // namespace fm
