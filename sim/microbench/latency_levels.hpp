#pragma once
// What a latency curve says about the caches behind it, read as on a device whose config nobody
// knows.

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/microbench/microbench_curve.hpp"

namespace fm {

/// Neighbouring footprints of one latency.
struct LatencyRun {
  std::int64_t first = 0, last = 0;  ///< footprints, bytes
  double nanoseconds = 0;            ///< a hop, mean
  std::size_t points = 0;
};

/// A cache: up to `capacity` latency is flat.
struct LatencyKnee {
  std::int64_t capacity = 0;
  /// Latency rises again with every further line and is flat again once every set has one line too
  /// many, which is LRU's behaviour: capacity + sets * line = capacity + capacity / ways. Absent
  /// where footprints are too far apart to tell.
  std::optional<std::int64_t> line, ways, sets;
};

struct LatencyLevels {
  std::int64_t stride = 0;
  std::vector<LatencyRun> runs;  ///< by footprint
  std::vector<LatencyRun> plateaus;
  std::vector<LatencyKnee> knees;  ///< after each plateau but the last
};

/// One a stride of a curve over `footprint` and `stride`. Footprints belong to one run while their
/// latency is within 0.5 % of its first (more for small rings, whose last line weighs); capacity is
/// the last of a plateau's footprints within 0.05 % of its least latency; a plateau is a run over a
/// quarter of its first footprint.
std::vector<LatencyLevels> latency_levels(const MicrobenchCurve& curve);

}  // namespace fm
