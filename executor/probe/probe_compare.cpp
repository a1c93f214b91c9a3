#include "executor/probe/probe_compare.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "executor/probe/figures.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

/// How far values at the same axes are apart, relative.
std::vector<double> distances(const MicrobenchCurve& first, const MicrobenchCurve& second) {
  std::vector<double> apart;
  for (const MicrobenchPoint& point : first.points) {
    for (const MicrobenchPoint& other : second.points) {
      if (other.axes != point.axes) continue;
      const auto [less, more] = std::minmax(point.value, other.value);
      apart.push_back(more / less - 1);
    }
  }
  return apart;
}

std::string percent_text(double share) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * share << " %";
  return text.str();
}

}  // namespace

ProbeComparison compare(const ProbeData& first, const ProbeData& second, double limit) {
  ProbeComparison comparison;
  std::ostringstream out;
  out << std::left << std::setw(24) << "curve" << std::right << std::setw(8) << "points"
      << std::setw(14) << "median apart" << std::setw(12) << "most" << std::setw(12) << "beyond "
      << percent_text(limit) << "\n";
  for (const auto& [name, curve] : first.curves) {
    const MicrobenchCurve* other = second.curve(name);
    const auto apart = other == nullptr ? std::vector<double>{} : distances(curve, *other);
    if (apart.empty()) {
      out << std::left << std::setw(24) << name << "is in the first file only\n";
      continue;
    }
    const auto beyond = std::count_if(apart.begin(), apart.end(),
                                      [&](double distance) { return distance > limit; });
    out << std::left << std::setw(24) << name << std::right << std::setw(8) << apart.size()
        << std::setw(14) << percent_text(median(apart)) << std::setw(12)
        << percent_text(*std::max_element(apart.begin(), apart.end())) << std::setw(12) << beyond
        << "\n";
    comparison.points += apart.size();
    comparison.apart += static_cast<std::size_t>(beyond);
  }
  comparison.text = out.str();
  return comparison;
}

}  // namespace fm
