#pragma once
// What a microbenchmark measured, simulated or on a device: values over the axes of its labels.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fm {

struct MicrobenchPoint {
  std::vector<std::pair<std::string, std::int64_t>> axes;  ///< in the order of the launch ids
  double value = 0;
  /// Median absolute deviation of repeated measurements over their median; 0: one measurement.
  double spread = 0;
  /// Throws std::out_of_range.
  std::int64_t axis(const std::string& name) const;
};

struct MicrobenchCurve {
  std::string name;
  std::string unit;                     ///< "ns/hop", "B/ns", "texel/clk", ...
  std::vector<MicrobenchPoint> points;  ///< in the order measured
};

/// From what a point took to its value in `unit` (core/microbench_label.hpp); `clock_hertz` of the
/// GPU, for units a cycle. Throws UserError for other units.
double microbench_value(double nanoseconds, double work, const std::string& unit,
                        double clock_hertz);

}  // namespace fm
