#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "executor/opencl_objects.hpp"

namespace fm {

/// Moves a run's times from the device's clock onto the host's, all by the same distance, so that
/// the order of commands and the gaps between them stay. A device stamps a command as queued after
/// the host began to enqueue it: the largest distance seen is the nearest to the true one.
class DeviceClock {
 public:
  /// `host_queued`: the host's clock when it began to enqueue the command, in ns.
  void observe(std::uint64_t host_queued, const EventTimes& times) {
    distance_ = std::max(distance_, signed_ns(host_queued) - signed_ns(times.queued));
  }
  /// Once at least one command was observed.
  EventTimes on_host(const EventTimes& times) const {
    return {moved(times.queued), moved(times.submitted), moved(times.started), moved(times.ended)};
  }

 private:
  static std::int64_t signed_ns(std::uint64_t time) { return static_cast<std::int64_t>(time); }
  std::uint64_t moved(std::uint64_t time) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, signed_ns(time) + distance_));
  }

  std::int64_t distance_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace fm
