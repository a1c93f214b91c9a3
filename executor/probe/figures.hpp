#pragma once
// From measured curves to parameters of a device config. What a curve does not show is said, never
// guessed.

#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "executor/probe/probe_data.hpp"

namespace fm {

/// A parameter of core/device_config_schema.cpp as measured.
struct Figure {
  std::string path;
  double number = 0;                         ///< canonical units
  std::vector<CurvePoint> curve;             ///< instead, for parameters that are curves
  double spread = 0;                         ///< relative, of the points it is read from
  std::string how;                           ///< which points, and what was taken off
  SourceKind source = SourceKind::measured;  ///< spec: the driver says it
};

/// Something seen that no parameter of a config holds.
struct Observation {
  std::string what, value;
};

/// A parameter that the curves do not show, and why.
struct NotVisible {
  std::string path, reason;
};

struct Figures {
  std::vector<Figure> found;
  std::vector<Observation> observations;
  std::vector<NotVisible> not_visible;

  const Figure* find(const std::string& path) const;  ///< null when not found
  double number_or(const std::string& path, double otherwise) const;
};

/// `base`: which levels a device has, and what latencies and rates hold besides the parameter
/// sought, where nothing measured says better.
Figures figures_of(const ProbeData& data, const DeviceConfig& base);

// The parts of figures_of(), by subject. Each adds to `figures`, and may use what is there.
void add_wave_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures);
void add_bandwidth_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures);
void add_latency_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures);
void add_local_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures);
void add_host_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures);
/// Of a base that computes_one_by_one(): rates, texels, work-items. Caches first: latencies need
/// them.
void add_cpu_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures);
void add_cpu_caches(const ProbeData& data, Figures* figures);
void add_driver_facts(const ProbeData& data, Figures* figures);

/// Whether the base is a CPU's: its work-items follow one another, each a computation of vectors.
bool computes_one_by_one(const DeviceConfig& base);
/// The number that a fact of the device holds; 0: none.
double fact_of(const ProbeData& data, const std::string& fact);
/// Operations a clock and core at the best point of a curve of arithmetic, `a_round` of them by
/// each work-item.
double operations_a_clock(const ProbeData& data, const MicrobenchCurve& curve, double a_round);
/// The values of a curve at points whose axes are as given.
std::vector<MicrobenchPoint> points_at(
    const MicrobenchCurve& curve, const std::vector<std::pair<std::string, std::int64_t>>& axes);
/// The median of the points' own spreads.
double typical_spread(const std::vector<MicrobenchPoint>& points);
/// "12.3 ns", "1.50 MiB": for people.
std::string short_number(double number);
std::string bytes_text(double bytes);

}  // namespace fm
