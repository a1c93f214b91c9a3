#pragma once
// Flat stretches of a noisy curve that only rises: latency over footprint.

#include <cstddef>
#include <vector>

namespace fm {

struct CurveSample {
  double x = 0, y = 0;
};

struct Plateau {
  double first = 0, last = 0;  ///< x of its ends
  double level = 0;            ///< median of its samples
  double next = 0;             ///< x of the sample behind it; 0: the curve ends
};

/// The nearest curve that never falls, single outliers left out.
std::vector<double> rising(std::vector<double> values);

/// Stretches whose values agree within the relative `tolerance`: three samples or more over a
/// quarter of their first x, or two over half of it. `samples` by ascending x, all x above 0.
std::vector<Plateau> plateaus_of(const std::vector<CurveSample>& samples, double tolerance);

double median(std::vector<double> values);  ///< of at least one
/// Median absolute deviation over the median.
double relative_spread(const std::vector<double>& values);

}  // namespace fm
