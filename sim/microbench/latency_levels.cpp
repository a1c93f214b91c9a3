#include "sim/microbench/latency_levels.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace fm {
namespace {

struct Sample {
  std::int64_t footprint;
  double nanoseconds;
};

constexpr double same_latency = 0.005;
constexpr double rising = 0.0005;
/// A ring whose last line is not full has up to an element's share of a line more.
double share_of_last(std::int64_t footprint) { return 8.0 / static_cast<double>(footprint); }

std::vector<LatencyRun> runs_of(const std::vector<Sample>& samples) {
  std::vector<LatencyRun> runs;
  double first = 0, sum = 0;
  for (const Sample& sample : samples) {
    if (runs.empty() ||
        std::abs(sample.nanoseconds / first - 1) > same_latency + share_of_last(sample.footprint)) {
      runs.push_back({sample.footprint, sample.footprint, 0, 0});
      first = sample.nanoseconds;
      sum = 0;
    }
    LatencyRun& run = runs.back();
    run.last = sample.footprint;
    sum += sample.nanoseconds;
    run.nanoseconds = sum / static_cast<double>(++run.points);
  }
  return runs;
}

bool is_plateau(const LatencyRun& run) {
  return run.points >= 2 && 4 * (run.last - run.first) >= run.first;
}

/// The last footprint of a plateau before latency begins to rise inside it: one set of a large
/// cache missing is little.
std::int64_t capacity_of(const LatencyRun& plateau, const std::vector<Sample>& samples) {
  double least = plateau.nanoseconds;
  for (const Sample& sample : samples) {
    if (sample.footprint < plateau.first || sample.footprint > plateau.last) continue;
    least = std::min(least, sample.nanoseconds);
  }
  std::int64_t capacity = plateau.first;
  for (const Sample& sample : samples) {
    if (sample.footprint < plateau.first || sample.footprint > plateau.last) continue;
    if (sample.nanoseconds <= least * (1 + rising + share_of_last(sample.footprint))) {
      capacity = sample.footprint;
    }
  }
  return capacity;
}

/// `rise`: the runs between this plateau and the next, which begins at `flat`.
LatencyKnee knee_of(std::int64_t capacity, const LatencyRun& plateau,
                    const std::vector<LatencyRun>& rise, std::int64_t flat) {
  LatencyKnee knee;
  knee.capacity = capacity;
  std::int64_t beyond = flat - capacity;
  if (!rise.empty() && capacity == plateau.last) {
    // The first line too many shows at the first element beyond, the second one a line later.
    const std::int64_t second = rise.size() > 1 ? rise[1].first : flat;
    const std::int64_t line = second - rise[0].first;
    if (line > 0 && (line & (line - 1)) == 0) {
      knee.line = line;
      beyond = (beyond + line - 1) / line * line;
    }
  }
  if (beyond <= 0 || capacity % beyond != 0) return knee;
  knee.ways = capacity / beyond;
  if (knee.line) knee.sets = beyond / *knee.line;
  return knee;
}

}  // namespace

std::vector<LatencyLevels> latency_levels(const MicrobenchCurve& curve) {
  std::map<std::int64_t, std::vector<Sample>> by_stride;
  for (const MicrobenchPoint& point : curve.points) {
    by_stride[point.axis("stride")].push_back({point.axis("footprint"), point.value});
  }
  std::vector<LatencyLevels> all;
  for (auto& [stride, samples] : by_stride) {
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.footprint < b.footprint; });
    LatencyLevels levels;
    levels.stride = stride;
    levels.runs = runs_of(samples);
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < levels.runs.size(); ++i) {
      if (!is_plateau(levels.runs[i])) continue;
      if (before) {
        const auto at = [&](std::size_t k) {
          return levels.runs.begin() + static_cast<std::ptrdiff_t>(k);
        };
        const LatencyRun& plateau = levels.runs[*before];
        levels.knees.push_back(knee_of(capacity_of(plateau, samples), plateau,
                                       {at(*before + 1), at(i)}, levels.runs[i].first));
      }
      levels.plateaus.push_back(levels.runs[i]);
      before = i;
    }
    all.push_back(std::move(levels));
  }
  return all;
}

}  // namespace fm
