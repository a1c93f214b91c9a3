#pragma once
// One SC_METHOD a hardware block, woken at its next event.

#include <cstdint>
#include <memory>
#include <systemc>

#include "sim/memory/divider.hpp"
#include "sim/memory/line_request.hpp"

namespace fm {

/// The period a clock has now, and since when.
struct ClockRate {
  ClockRate(Ticks cycle, Ticks since, std::uint64_t since_cycle)
      : period(cycle), origin(since), origin_cycle(since_cycle), by_period(cycle) {}
  Ticks period;
  Ticks origin;
  std::uint64_t origin_cycle;
  Reciprocal by_period;
};

/// The GPU clock and the lookahead: how far a block may run ahead of simulation time because no
/// message sent from now on can reach it earlier. At most the latency of the shortest link between
/// blocks; results do not depend on it. The period may change while a run goes on, for all copies
/// of a clock at once; cycles count on.
struct Clock {
  Ticks period = 1;     ///< of one GPU cycle; of a clock that changes the shortest
  Ticks lookahead = 1;  ///< every link's latency is at least this
  Ticks core_link = 0;  ///< and that of every link of a core this; 0: as lookahead
  std::shared_ptr<ClockRate> rate = nullptr;  ///< shared by copies; none: the period never changes

  Ticks period_now() const { return rate ? rate->period : period; }
  Ticks at(std::uint64_t cycle) const {
    if (!rate) return cycle * period;
    return rate->origin + (cycle - rate->origin_cycle) * rate->period;
  }
  /// The first cycle that does not start before `time`, which is not before the last change.
  std::uint64_t cycle_from(Ticks time) const {
    if (!rate) return (time + period - 1) / period;
    return rate->origin_cycle + rate->by_period.quotient(time - rate->origin + rate->period - 1);
  }
  /// From `now` on, where the next cycle begins at once. Only of a clock with a rate.
  void change_period(Ticks next, Ticks now) const { *rate = {next, now, cycle_from(now)}; }
};

/// When a block wakes, and which events it then handles at once, in order of time.
enum class BlockWindow : std::uint8_t {
  /// At the instants of its events: for effects that must appear at their exact simulation time
  /// (callbacks).
  exact,
  /// On a grid of `lookahead`: the events of [now, now + lookahead).
  ahead,
  /// On a grid of about twice `core_link`, so that a block with much state of its own is visited
  /// seldom: the events of a window that reaches as far ahead as its links and as far back as the
  /// last one ended. Neighbours must not be of this kind.
  around,
};

class Block : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Block);
  Block(sc_core::sc_module_name name, const Clock& clock, BlockWindow window);

  /// An event for this block at `time` (not before now): it will be awake then.
  void wake_by(Ticks time);
  const Clock& clock() const { return clock_; }
  /// Now, in SystemC.
  static Ticks now() { return sc_core::sc_time_stamp().value(); }

 protected:
  /// Handles every event before `end` and returns the time of the next one, or `never`.
  virtual Ticks advance(Ticks now, Ticks end) = 0;

 private:
  void activate();
  /// When the window of an event at `time` begins to be handled.
  Ticks wake_for(Ticks time) const;
  /// Of what is handled when awake at `start`.
  Ticks end_of(Ticks start) const;
  const Clock clock_;
  const BlockWindow window_;
  const Ticks step_;            ///< of the grid; shorter than every link by 1 ps
  const Ticks ahead_, period_;  ///< around: how far a window reaches ahead, and its length
  Ticks wake_ = never;
  sc_core::sc_event event_;
};

}  // namespace fm
