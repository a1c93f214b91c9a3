#pragma once
// One DRAM channel: a scheduler over bounded read and write queues, one command bus, banks with
// open rows, refresh.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/block.hpp"
#include "sim/memory/divider.hpp"
#include "sim/memory/dram_banks.hpp"
#include "sim/memory/dram_mapping.hpp"
#include "sim/memory/dram_queue.hpp"
#include "sim/memory/memory_level.hpp"
#include "sim/memory/wait_graph.hpp"

namespace fm {

/// Knows at any time its next command and when it goes out (the plan): of all commands that serve a
/// queued request the one that may be issued first, on a tie the one for the oldest request. The
/// plan is made anew after every command and every arrival, from the banks that have requests.
/// Nothing happens in between, so nothing ticks.
///
/// Reads go first until writes reach their high mark or no read waits; then writes go until their
/// low mark. A write is answered when it enters its queue, a read that finds all its bytes in a
/// waiting write at once.
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
  bool idle() const { return arrivals_.empty() && reads_.empty() && writes_.empty(); }
  void append_waits(std::vector<Wait>* waits) const;
  const DramCounts& counts() const { return counts_; }
  std::uint32_t open_rows() const {
    return static_cast<std::uint32_t>(__builtin_popcountll(banks_.open_banks()));
  }
  /// Share of the data rate from now on, rounded to the inverse of a whole number; commands keep
  /// their clock and timings in time.
  void set_speed(double speed);
  const DramClock& command_clock() const { return command_clock_; }
  void observe(DramObserver* observer) { observer_ = observer; }

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  struct Arrival {
    LineRequest request;
    std::uint64_t local = 0;
  };
  struct ArrivalBefore {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return RequestBefore{}(a.request, b.request);
    }
  };
  enum class Action : std::uint8_t {
    nothing,
    look_again,  ///< a refresh becomes due or a request starves
    column,
    activate,
    activate2,
    precharge,
    precharge_all,
    refresh_all,
    refresh_banks
  };
  struct Plan {
    DramCycle cycle = never;
    std::uint64_t order = 0;
    Action action = Action::nothing;
    std::uint32_t bank = 0;
    DramQueue::Index entry = DramQueue::none;
  };

  DramQueue& queue(bool write) { return write ? writes_ : reads_; }
  const DramQueue& queue(bool write) const { return write ? writes_ : reads_; }
  Ticks run_until(Ticks end);
  DramCycle next_arrival() const;
  /// Returns false when a new plan must be made.
  bool admit(DramCycle cycle);
  std::uint32_t bursts_of(const LineRequest& request) const;
  bool forward(const LineRequest& read, const DramPlace& place) const;

  // dram_plan.cpp: what next, and when.
  void plan(DramCycle from);
  void choose_direction();
  /// `blocked`: banks that wait for their refresh.
  void propose_requests(DramCycle from, std::uint64_t blocked);
  bool starved(const DramEntry& entry) const {
    return decision_ >= entry.entered + parameters_.starvation;
  }
  /// Amends the plan for a request just queued; false when a new plan must be made.
  bool plan_arrival(const DramEntry& entry, bool hit, DramCycle from);
  void propose(DramCycle cycle, std::uint64_t order, Action action, std::uint32_t bank,
               DramQueue::Index entry);
  void propose_columns(DramCycle from, std::uint64_t banks);
  void propose_activates(DramCycle from, std::uint64_t banks);
  void propose_precharges(DramCycle from, std::uint64_t banks);
  void propose_in_order(DramCycle from, std::uint64_t blocked);
  void propose_timeouts(DramCycle from);
  void propose_second_activate(DramCycle from);
  void propose_all_bank_refresh(DramCycle from);
  void propose_bank_refresh(DramCycle from);
  bool overtakes_starved(std::uint32_t bank) const;

  // dram_issue.cpp: what a command does.
  void issue(const Plan& plan);
  void issue_column(const Plan& plan);
  void issue_activate(const Plan& plan);
  void complete(DramEntry& entry, DramCycle cycle);
  void close_bank(std::uint32_t bank);
  void precharge_all(DramCycle cycle);
  void refresh_all(DramCycle cycle);
  void refresh_banks(DramCycle cycle);
  void note(DramCycle cycle, DramCommand command, std::uint32_t bank = 0, std::uint64_t row = 0);
  /// The refreshes of a time without requests, up to `cycle`.
  void catch_up(DramCycle cycle);
  DramCycle refresh_interval() const;
  std::uint64_t refresh_set() const;

  const DramParameters parameters_;
  const DramMapping mapping_;
  const DramClock command_clock_;
  const std::uint32_t index_;
  Outlet* outlet_;
  DramObserver* observer_ = nullptr;
  TimedQueue<Arrival, ArrivalBefore> arrivals_;
  DramQueue reads_, writes_;
  DramBanks banks_;
  std::uint32_t burst_;  ///< clocks of the data bus, at the present data rate
  std::uint64_t order_ = 1;
  Plan plan_;
  bool advancing_ = false;
  bool drain_ = false;       ///< direction: writes
  bool last_write_ = false;  ///< of the last column command
  bool starving_ = false;    ///< the direction's oldest request may be overtaken no more
  DramCycle slot_ = 0;       ///< first free cycle of the command bus
  DramCycle looked_ = 0;     ///< when the queues last changed
  bool unfinished_ = false;  ///< the last column command's request has bursts left
  DramCycle decision_ = 0;   ///< time of the plan, by which requests are starved or not
  bool activating_ = false;  ///< between ACT-1 and ACT-2
  std::uint32_t activating_bank_ = 0;
  DramCycle activate2_deadline_ = 0;
  DramCycle next_refresh_;
  std::uint32_t refresh_cursor_ = 0;  ///< which set of banks, per-bank refresh
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
  void set_speed(double speed);
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
  const Divider interleave_, channel_count_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  std::vector<Source> sources_;
  std::vector<std::uint64_t> answer_order_;
  TrafficCounts traffic_;
};

}  // namespace fm
