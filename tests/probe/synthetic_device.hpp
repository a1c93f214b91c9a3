#pragma once
// Curves of a device whose answers are known: LRU caches walked by brute force, noise on top.

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "executor/probe/figures.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {

/// Sets of lines, the newest first.
class LruCache {
 public:
  LruCache(std::int64_t bytes, std::int64_t line, std::int64_t ways)
      : line_(line),
        ways_(static_cast<std::size_t>(ways)),
        sets_(static_cast<std::size_t>(bytes / line / ways)) {}
  bool touch(std::int64_t address) {
    const std::int64_t number = address / line_;
    auto& set = sets_[static_cast<std::size_t>(number) % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), number);
    const bool hit = found != set.end();
    if (hit) set.erase(found);
    set.push_front(number);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }

 private:
  std::int64_t line_;
  std::size_t ways_;
  std::vector<std::deque<std::int64_t>> sets_;
};

struct SyntheticLevel {
  std::int64_t bytes, line, ways;
  double hit_ns;
};

/// Mean latency of a steady walk around a ring; `beyond_ns` where all levels miss.
inline double walked_ns(const std::vector<SyntheticLevel>& levels, double beyond_ns,
                        std::int64_t footprint, std::int64_t stride) {
  std::vector<LruCache> caches;
  for (const SyntheticLevel& level : levels) {
    caches.emplace_back(level.bytes, level.line, level.ways);
  }
  double total = 0;
  for (int round = 0; round < 2; ++round) {
    total = 0;
    for (std::int64_t at = 0; at < footprint; at += stride) {
      double time = beyond_ns;
      for (std::size_t i = 0; i < caches.size(); ++i) {
        if (!caches[i].touch(at)) continue;
        time = levels[i].hit_ns;
        break;
      }
      total += time;
    }
  }
  return total * static_cast<double>(stride) / static_cast<double>(footprint);
}

/// Measurements of `value`, now and then far above: another program's time. Their median, as the
/// probe takes it.
class Noise {
 public:
  explicit Noise(double spread) : normal_(1, std::max(spread, 1e-12)), noisy_(spread > 0) {}
  double operator()(double value) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const bool disturbed = noisy_ && ++number_ % 17 == 0;
      times.push_back(value * normal_(random_) * (disturbed ? 1.5 : 1));
    }
    return median(times);
  }

 private:
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
  bool noisy_;
  int number_ = 0;
};

/// As the suite places them: around powers of two.
inline MicrobenchCurve walked_curve(const std::vector<SyntheticLevel>& levels, double beyond_ns,
                                    double spread) {
  Noise noise(spread);
  MicrobenchCurve curve{"pointer_chase_buffer", "ns/hop", {}};
  const auto add = [&](std::int64_t footprint, std::int64_t stride) {
    curve.points.push_back({{{"footprint", footprint}, {"stride", stride}},
                            noise(walked_ns(levels, beyond_ns, footprint, stride)),
                            spread});
  };
  for (std::int64_t power = 512; power <= 65536; power *= 2) {
    for (const std::int64_t more : {0, 16, 32, 48, 64}) add(power + more, 16);
    for (const std::int64_t part : {32, 16, 8, 4, 2}) {
      if (power / part > 64) add(power + power / part, 16);
    }
  }
  for (std::int64_t power = 1024; power <= 262144; power *= 2) {
    add(power, 64);
    add(power + power / 2, 64);
  }
  return curve;
}

}  // namespace fm
