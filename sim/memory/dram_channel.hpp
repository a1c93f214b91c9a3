#pragma once
// One LPDDR channel: banks with open rows, FR-FCFS over a bounded queue, turnaround, four-activate
// window, refresh.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/block.hpp"
#include "sim/memory/dram_parameters.hpp"
#include "sim/memory/memory_level.hpp"
#include "sim/memory/wait_graph.hpp"

namespace fm {

/// Every decision issues all commands that are ready (precharge and activate for the oldest request
/// of a bank, one column command: row hits of the bus's present direction first, then by age), then
/// plans the next decision at the earliest time another command becomes ready. Nothing happens in
/// between, so nothing ticks.
class DramChannel : public Block {
 public:
  /// Who hears that a request's data moved.
  class Outlet {
   public:
    virtual ~Outlet() = default;
    virtual void answer(std::uint32_t channel, const LineRequest& request, Ticks leaves) = 0;
  };
  DramChannel(sc_core::sc_module_name name, const Clock& clock, const DramParameters& parameters,
              std::uint32_t index, Outlet* outlet);

  /// `local`: the address within the channel.
  void receive(const LineRequest& request, std::uint64_t local);
  bool idle() const { return arrivals_.empty() && queue_.empty(); }
  void append_waits(std::vector<Wait>* waits) const;
  const DramCounts& counts() const { return counts_; }
  /// Refreshes due by `time` are counted, those of idle times too.
  void finish(Ticks time);

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  static constexpr std::uint64_t closed = ~std::uint64_t{0};
  struct Arrival {
    LineRequest request;
    std::uint64_t local = 0;
  };
  struct ArrivalBefore {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return RequestBefore{}(a.request, b.request);
    }
  };
  enum class RowCase : std::uint8_t { hit, miss, conflict };
  struct Entry {
    LineRequest request;
    std::uint32_t bank = 0, group = 0;
    std::uint64_t row = 0;
    std::uint32_t bursts = 0;
    RowCase row_case = RowCase::hit;
  };
  struct Bank {
    std::uint64_t row = closed;
    Ticks column_ok = 0;  ///< earliest column command to the open row
    Ticks precharge_ok = 0;
    Ticks activate_ok = 0;  ///< when closed
  };

  Ticks next_arrival() const;
  void decide(Ticks time);
  void admit(Ticks time);
  /// Address mapping, low bits first: byte of a line, bank group, column, bank of the group, row.
  void locate(std::uint64_t local, Entry* entry) const;
  void refresh(Ticks time);
  void skip_refreshes(Ticks time);
  void prepare_rows(Ticks time, Ticks* plan);
  void prepare_bank(Bank& bank, Entry& entry, Ticks time, Ticks* plan);
  Ticks activate_time(const Bank& bank) const;
  Ticks column_time(const Entry& entry) const;
  bool starved(const Entry& entry, Ticks time) const {
    return time > entry.request.time + parameters_.starvation;
  }
  std::size_t choose(Ticks time, Ticks* plan) const;
  void issue(std::size_t index, Ticks time);

  const DramParameters parameters_;
  const std::uint32_t index_;
  Outlet* outlet_;
  TimedQueue<Arrival, ArrivalBefore> arrivals_;
  std::vector<Entry> queue_;  ///< in order of arrival
  std::vector<Bank> banks_;
  std::vector<Ticks> group_column_ok_;  ///< by bank group
  std::array<Ticks, 4> activations_{};  ///< times of the last four, a ring
  std::uint32_t activation_ = 0;
  Ticks last_activation_ = 0;
  Ticks next_column_ = 0;  ///< earliest column command: the bus is taken until then
  Ticks read_data_end_ = 0, write_data_end_ = 0;
  bool last_write_ = false;
  Ticks next_refresh_;
  Ticks planned_ = never;  ///< next decision on behalf of the queue
  Ticks last_decision_ = 0;
  std::vector<std::uint8_t> bank_marks_;  ///< scratch of a decision
  DramCounts counts_;
};

/// All channels: maps addresses, counts what crosses the edge above.
class DramSystem : public MemoryLevel, private DramChannel::Outlet {
 public:
  DramSystem(const Clock& clock, const DramParameters& parameters);
  std::uint16_t attach(LineSink* sink, Ticks latency) override;
  void receive(const LineRequest& request) override;
  std::uint32_t line_bytes() const override { return parameters_.line_bytes; }
  std::string level_name() const override { return "dram"; }

  const DramParameters& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<DramChannel>>& channels() const { return channels_; }
  const TrafficCounts& traffic() const { return traffic_; }
  /// Bytes over the buses: bursts x burst size.
  std::uint64_t bytes_moved() const;
  double peak_bytes_per_second() const;

 private:
  struct Source {
    LineSink* sink;
    Ticks latency;
  };
  void answer(std::uint32_t channel, const LineRequest& request, Ticks leaves) override;
  const DramParameters parameters_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  std::vector<Source> sources_;
  std::vector<std::uint64_t> answer_order_;
  TrafficCounts traffic_;
};

}  // namespace fm
