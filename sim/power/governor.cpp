#include "sim/power/governor.hpp"

#include <algorithm>

namespace fm {

void BusyTime::begin(Picoseconds now) {
  if (running_++ == 0) since_ = now;
}

void BusyTime::end(Picoseconds now) {
  if (--running_ == 0) busy_ += now - since_;
}

Picoseconds BusyTime::take(Picoseconds now) {
  if (running_ > 0) {
    busy_ += now - since_;
    since_ = now;
  }
  const Picoseconds taken = busy_;
  busy_ = Picoseconds(0);
  return taken;
}

Governor::Governor(const std::vector<CurvePoint>& points, bool ramp, double up, double down)
    : points_(points),
      ramp_(ramp),
      up_(up),
      down_(down),
      wanted_(ramp ? 0 : points.size() - 1),
      allowed_(points.size()) {}

void Governor::observe(double utilisation) {
  if (!ramp_) return;
  if (utilisation > up_ && wanted_ + 1 < points_.size()) ++wanted_;
  if (utilisation < down_ && wanted_ > 0) --wanted_;
}

void Governor::allow(std::size_t count) {
  allowed_ = std::clamp<std::size_t>(count, 1, points_.size());
}

const CurvePoint& Governor::point() const { return points_[std::min(wanted_, allowed_ - 1)]; }

}  // namespace fm
