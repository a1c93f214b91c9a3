#pragma once
// How fast a part of the phone runs: its operating points, and who chooses among them.

#include <cstdint>
#include <vector>

#include "core/device_config.hpp"
#include "core/units.hpp"

namespace fm {

/// How long something was busy, whole or in several overlapping pieces.
class BusyTime {
 public:
  void begin(Picoseconds now);
  void end(Picoseconds now);
  /// Busy time since the last take().
  Picoseconds take(Picoseconds now);

 private:
  std::uint64_t running_ = 0;
  Picoseconds since_, busy_;
};

/// `fixed`: always the fastest point. `ramp`: begins at the slowest and, after every interval, goes
/// one point up when it was busy for more than the share `up` of it, one down below `down` (as
/// Linux's devfreq governor simple_ondemand decides, a step at a time).
class Governor {
 public:
  /// `points`: share of the fastest clock to voltage, ascending, not empty; the last is the
  /// fastest.
  Governor(const std::vector<CurvePoint>& points, bool ramp, double up, double down);

  /// After an interval in which it was busy for a share of 0 to 1.
  void observe(double utilisation);
  /// No point above the `count`-th from below, at least 1; what a thermal limit sets.
  void allow(std::size_t count);
  std::size_t allowed() const { return allowed_; }
  std::size_t points() const { return points_.size(); }
  bool ramps() const { return ramp_; }

  /// Of the fastest clock, 0 to 1.
  double speed() const { return point().x / points_.back().x; }
  /// Over that of the fastest point.
  double voltage() const { return point().y / points_.back().y; }

 private:
  const CurvePoint& point() const;
  std::vector<CurvePoint> points_;
  bool ramp_;
  double up_, down_;
  std::size_t wanted_, allowed_;
};

}  // namespace fm
