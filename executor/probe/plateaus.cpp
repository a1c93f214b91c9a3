#include "executor/probe/plateaus.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

/// Each value becomes the median of itself and its neighbours: no edge moves, no outlier stays.
std::vector<double> without_outliers(const std::vector<double>& values) {
  std::vector<double> result = values;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    result[i] = median({values[i - 1], values[i], values[i + 1]});
  }
  return result;
}

/// Samples of nearly one value.
struct Run {
  std::size_t first = 0, last = 0;
};

std::vector<Run> runs_of(const std::vector<double>& values, double tolerance) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (runs.empty() || values[i] > values[runs.back().first] * (1 + tolerance)) {
      runs.push_back({i, i});
    }
    runs.back().last = i;
  }
  return runs;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double relative_spread(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return middle == 0 ? 0 : median(deviations) / std::abs(middle);
}

std::vector<double> rising(std::vector<double> values) {
  struct Pool {
    double sum = 0;
    std::size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const double value : without_outliers(values)) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  values.clear();
  for (const Pool& pool : pools) values.insert(values.end(), pool.count, pool.mean());
  return values;
}

std::vector<Plateau> plateaus_of(const std::vector<CurveSample>& samples, double tolerance) {
  std::vector<double> values;
  for (const CurveSample& sample : samples) values.push_back(sample.y);
  values = rising(values);
  std::vector<Plateau> plateaus;
  for (const Run& run : runs_of(values, tolerance)) {
    const double first = samples[run.first].x, last = samples[run.last].x;
    const double least = run.last - run.first < 2 ? 0.5 : 0.25;
    if (last - first < least * first) continue;
    std::vector<double> levels;
    for (std::size_t i = run.first; i <= run.last; ++i) levels.push_back(samples[i].y);
    const bool ends = run.last + 1 == samples.size();
    plateaus.push_back({first, last, median(levels), ends ? 0 : samples[run.last + 1].x});
  }
  return plateaus;
}

}  // namespace fm
