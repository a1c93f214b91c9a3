#pragma once
// Loads of every wave of a core: which are outstanding, and when each one's data is there.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/gpu/core_link.hpp"
#include "sim/gpu/line_plan.hpp"

namespace fm {

/// Loads of a wave are numbered in program order. A load's completion is known as soon as all its
/// lines are: hits at issue, misses with the last fill; until then it is `no_cycle`.
class Scoreboard {
 public:
  explicit Scoreboard(std::uint32_t waves) : waves_(waves) {}

  void start_wave(std::uint32_t wave) { waves_[wave] = Wave{}; }
  /// A new load, held open until close().
  std::uint32_t open(std::uint32_t wave, Unit unit) {
    Wave& state = waves_[wave];
    const std::uint32_t load = state.issued++ % maximum_outstanding;
    state.loads[load] = {no_cycle, 0, 1, unit};
    return load;
  }
  void add_line(std::uint32_t wave, std::uint32_t load) { ++waves_[wave].loads[load].missing; }
  void line_known(std::uint32_t wave, std::uint32_t load, Cycle done) {
    Load& state = waves_[wave].loads[load];
    state.latest = std::max(state.latest, done);
  }
  /// A line that was added is there at `done`, or (close) no further line will be added. True when
  /// the load's completion becomes known by it.
  bool line_done(std::uint32_t wave, std::uint32_t load, Cycle done) {
    Load& state = waves_[wave].loads[load];
    state.latest = std::max(state.latest, done);
    if (--state.missing != 0) return false;
    state.done = state.latest;
    return true;
  }
  bool close(std::uint32_t wave, std::uint32_t load) { return line_done(wave, load, 0); }

  /// Retires loads until at most `allowed` of the newest are outstanding. Returns the cycle that is
  /// reached at (0 when none had to be waited for), or `no_cycle` when a load's completion is not
  /// known yet.
  Cycle wait(std::uint32_t wave, std::uint32_t allowed) {
    Wave& state = waves_[wave];
    while (state.issued - state.retired > allowed) {
      const Load& oldest = state.loads[state.retired % maximum_outstanding];
      if (oldest.done == no_cycle) {
        state.last_unit = oldest.unit;
        return no_cycle;
      }
      if (oldest.done >= state.reached) {
        state.reached = oldest.done;
        state.last_unit = oldest.unit;
      }
      ++state.retired;
    }
    return state.reached;
  }
  /// Of the load the last wait() ended with.
  Unit waited_unit(std::uint32_t wave) const { return waves_[wave].last_unit; }

 private:
  struct Load {
    Cycle done = 0, latest = 0;
    std::uint32_t missing = 0;
    Unit unit = Unit::load_store;
  };
  struct Wave {
    std::uint32_t issued = 0, retired = 0;
    Cycle reached = 0;
    Unit last_unit = Unit::load_store;
    std::array<Load, maximum_outstanding> loads;
  };
  std::vector<Wave> waves_;
};

}  // namespace fm
