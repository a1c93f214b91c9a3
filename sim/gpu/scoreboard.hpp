#pragma once
// Loads of every wave of a core: which are outstanding, and when each one's data is there.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/gpu/core_link.hpp"
#include "sim/gpu/line_plan.hpp"

namespace fm {

/// Loads of a wave are numbered in program order. A load's completion is known as soon as all its
/// lines are: hits at issue, misses with the last fill.
class Scoreboard {
 public:
  /// `outstanding`: loads a wave may have in flight.
  Scoreboard(std::uint32_t waves, std::uint32_t outstanding) : waves_(waves) {
    std::uint32_t ring = 1;
    while (ring < outstanding) ring *= 2;
    ring_mask_ = ring - 1;
    loads_.resize(std::size_t{waves} * ring);
  }

  void start_wave(std::uint32_t wave) { waves_[wave] = Wave{}; }
  /// A new load, held open until close().
  std::uint32_t open(std::uint32_t wave, Unit unit) {
    const std::uint32_t load = waves_[wave].issued++ & ring_mask_;
    load_of(wave, load) = {0, 1, unit};
    return load;
  }
  void add_line(std::uint32_t wave, std::uint32_t load) { ++load_of(wave, load).missing; }
  void line_known(std::uint32_t wave, std::uint32_t load, Cycle done) {
    Load& state = load_of(wave, load);
    state.latest = std::max(state.latest, done);
  }
  /// A line that was added is there at `done`, or (close) no further line will be added. True when
  /// the load's completion becomes known by it.
  bool line_done(std::uint32_t wave, std::uint32_t load, Cycle done) {
    Load& state = load_of(wave, load);
    state.latest = std::max(state.latest, done);
    return --state.missing == 0;
  }
  bool close(std::uint32_t wave, std::uint32_t load) { return line_done(wave, load, 0); }
  /// Brings what line_done() will read into the host's caches.
  void prefetch(std::uint32_t wave, std::uint32_t load) const {
    __builtin_prefetch(&loads_[wave * (ring_mask_ + 1) + load]);
  }

  /// Retires loads until at most `allowed` of the newest are outstanding. Returns the cycle that is
  /// reached at (0 when none had to be waited for), or `no_cycle` when a load's completion is not
  /// known yet.
  Cycle wait(std::uint32_t wave, std::uint32_t allowed) {
    Wave& state = waves_[wave];
    while (state.issued - state.retired > allowed) {
      const Load& oldest = load_of(wave, state.retired & ring_mask_);
      if (oldest.missing != 0) {
        state.last_unit = oldest.unit;
        return no_cycle;
      }
      if (oldest.latest >= state.reached) {
        state.reached = oldest.latest;
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
    Cycle latest = 0;           ///< of the lines known so far
    std::uint32_t missing = 0;  ///< lines not known yet, and one while it is open
    Unit unit = Unit::load_store;
  };
  struct Wave {
    std::uint32_t issued = 0, retired = 0;
    Cycle reached = 0;
    Unit last_unit = Unit::load_store;
  };
  Load& load_of(std::uint32_t wave, std::uint32_t load) {
    return loads_[wave * (ring_mask_ + 1) + load];
  }
  std::vector<Wave> waves_;
  std::uint32_t ring_mask_ = 0;
  std::vector<Load> loads_;  ///< of every wave a ring
};

}  // namespace fm
