// A CPU behind OpenCL: work-items are computed one after another, as vectors; images are read by
// arithmetic; the operating system knows the caches.
#include <algorithm>
#include <cmath>

#include "executor/probe/figures.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

void add(Figures* figures, const std::string& path, double number, double spread,
         const std::string& how) {
  figures->found.push_back({path, number, {}, spread, how});
}

struct CpuRate {
  const char *curve, *path, *operations;
  double a_round;  ///< operations of the kernel (kernels/microbench_rates.cpp)
};

/// At most `most`.
void add_rate(const ProbeData& data, const CpuRate& rate, double most, Figures* figures) {
  const MicrobenchCurve* curve = data.curve(rate.curve);
  if (curve == nullptr) return;
  const double a_clock = operations_a_clock(data, *curve, rate.a_round);
  add(figures, rate.path, std::min(most, a_clock), typical_spread(curve->points),
      std::string(rate.curve) + ": " + short_number(a_clock) + " " + rate.operations +
          " a clock and core" + (a_clock > most ? ", more than a wave has work-items" : ""));
}

/// Of all formats together: none is read by a texture unit.
void add_texels(const ProbeData& data, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("bandwidth_image");
  if (curve == nullptr) return;
  std::vector<double> rates;
  for (const MicrobenchPoint& point : curve->points) rates.push_back(point.value / data.cores);
  if (rates.empty()) return;
  const double rate = median(rates);
  add(figures, "texture.texels_per_clock", rate, typical_spread(curve->points),
      "bandwidth_image: " + short_number(rate) +
          " texels a clock and core, of whatever format and footprint");
}

/// Narrow reads take the same time whatever their width: an access with its index and its sum.
void add_accesses(const ProbeData& data, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("bandwidth_buffer");
  if (curve == nullptr) return;
  constexpr std::int64_t of_first_level = 16 * 1024, widest = 16;
  std::vector<double> rates;
  for (const MicrobenchPoint& point : curve->points) {
    if (point.axis("footprint") > of_first_level || point.axis("width") > widest) continue;
    rates.push_back(point.value / static_cast<double>(point.axis("width")));
  }
  if (rates.empty()) return;
  const double rate = median(rates) * 1e9 / data.clock_hertz / data.cores;
  add(figures, "load_store.lanes_per_clock", rate, typical_spread(curve->points),
      "bandwidth_buffer: " + short_number(rate) +
          " reads of 4 to 16 B a clock and core, each with its index and its sum");
}

/// What an elementwise kernel takes beyond its two accesses: a loop over work-items, indices.
void add_work_item(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("elementwise");
  if (curve == nullptr || curve->points.empty()) return;
  const double item = curve->points.front().value * data.clock_hertz / 1e9 * data.cores;
  const std::string rate = "load_store.lanes_per_clock";
  const double accesses = 2 / figures->number_or(rate, base.values().at(rate).number);
  add(figures, "gpu.work_item_start", std::max(0.0, std::round(item - accesses)),
      typical_spread(curve->points),
      "elementwise: " + short_number(item) +
          " cycles of a core a work-item, less its two accesses");
}

}  // namespace

bool computes_one_by_one(const DeviceConfig& base) {
  return base.word("gpu.inactive_lanes") == "skipped";
}

void add_cpu_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  const double lanes =
      base.values().at("gpu.wave_width").number * base.values().at("gpu.issue_per_clock").number;
  for (const CpuRate& rate : {CpuRate{"rate_vector", "gpu.fma_per_clock", "FMAs", 512},
                              {"rate_index", "gpu.integer_per_clock", "operations", 192},
                              {"rate_exponential", "gpu.special_per_clock", "exp", 64}}) {
    add_rate(data, rate, lanes, figures);
  }
  add_texels(data, figures);
  add_accesses(data, figures);
  add_work_item(data, base, figures);
}

void add_cpu_caches(const ProbeData& data, Figures* figures) {
  const auto add_fact = [&](const std::string& path, const std::string& fact, double times) {
    const double number = fact_of(data, fact) * times;
    if (number <= 0) return;
    figures->found.push_back({path,
                              number,
                              {},
                              0,
                              "the operating system says so of the first core's " + fact +
                                  (times > 1 ? ", one a core" : ""),
                              SourceKind::spec});
  };
  for (const std::string unit : {"load_store", "texture"}) {
    add_fact(unit + ".cache_size", "l1_bytes", 1);
    add_fact(unit + ".ways", "l1_ways", 1);
    add_fact(unit + ".line", "l1_line", 1);
  }
  add_fact("l2.size", "l2_bytes", data.cores);
  add_fact("l2.ways", "l2_ways", 1);
  add_fact("l2.line", "l2_line", 1);
  add_fact("slc.size", "l3_bytes", 1);
}

}  // namespace fm
