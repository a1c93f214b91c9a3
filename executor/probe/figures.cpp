#include "executor/probe/figures.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "executor/probe/plateaus.hpp"

namespace fm {

const Figure* Figures::find(const std::string& path) const {
  for (const Figure& figure : found) {
    if (figure.path == path) return &figure;
  }
  return nullptr;
}

double Figures::number_or(const std::string& path, double otherwise) const {
  const Figure* figure = find(path);
  return figure == nullptr ? otherwise : figure->number;
}

Figures figures_of(const ProbeData& data, const DeviceConfig& base) {
  Figures figures;
  if (computes_one_by_one(base)) {
    add_cpu_caches(data, &figures);
    add_latency_figures(data, base, &figures);
    add_cpu_figures(data, base, &figures);
  } else {
    add_wave_figures(data, base, &figures);
    add_latency_figures(data, base, &figures);
    add_local_figures(data, base, &figures);
  }
  add_bandwidth_figures(data, base, &figures);
  add_host_figures(data, base, &figures);
  add_driver_facts(data, &figures);
  return figures;
}

double fact_of(const ProbeData& data, const std::string& fact) {
  const auto found = data.facts.find(fact);
  return found == data.facts.end() ? 0 : std::atof(found->second.c_str());
}

std::vector<MicrobenchPoint> points_at(
    const MicrobenchCurve& curve, const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::vector<MicrobenchPoint> points;
  for (const MicrobenchPoint& point : curve.points) {
    const bool all = std::all_of(axes.begin(), axes.end(), [&](const auto& axis) {
      return std::find(point.axes.begin(), point.axes.end(), axis) != point.axes.end();
    });
    if (all) points.push_back(point);
  }
  return points;
}

double typical_spread(const std::vector<MicrobenchPoint>& points) {
  if (points.empty()) return 0;
  std::vector<double> spreads;
  spreads.reserve(points.size());
  for (const MicrobenchPoint& point : points) spreads.push_back(point.spread);
  return median(spreads);
}

std::string short_number(double number) {
  std::ostringstream text;
  text << std::setprecision(number < 1000 ? 3 : 6) << number;
  return text.str();
}

std::string bytes_text(double bytes) { return quantity_text(bytes, QuantityKind::bytes); }

}  // namespace fm
