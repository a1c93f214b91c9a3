// Wave width, arithmetic rates, occupancy, bandwidths, texel rates, banks of local memory.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "executor/probe/figures.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

void add(Figures* figures, const std::string& path, double number, double spread,
         const std::string& how) {
  figures->found.push_back({path, number, {}, spread, how});
}
void absent(Figures* figures, const std::string& path, const std::string& reason) {
  figures->not_visible.push_back({path, reason});
}

bool agree(double a, double b, double within) { return std::abs(a / b - 1) <= within; }

/// Mean relative distance of times from what fits them best: a constant and a part a unit.
double misfit(const std::vector<double>& units, const std::vector<double>& times) {
  const auto n = static_cast<double>(units.size());
  double sum_u = 0, sum_t = 0, sum_uu = 0, sum_ut = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    sum_u += units[i];
    sum_t += times[i];
    sum_uu += units[i] * units[i];
    sum_ut += units[i] * times[i];
  }
  const double slope = (n * sum_ut - sum_u * sum_t) / (n * sum_uu - sum_u * sum_u);
  const double start = (sum_t - slope * sum_u) / n;
  double distance = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    distance += std::abs(start + slope * units[i] - times[i]) / times[i];
  }
  return distance / n;
}

void add_wave_width(const MicrobenchCurve& curve, Figures* figures) {
  std::vector<double> threads, times;
  for (const MicrobenchPoint& point : curve.points) {
    threads.push_back(static_cast<double>(point.axis("threads")));
    times.push_back(point.value);
  }
  if (threads.size() < 6) return absent(figures, "gpu.wave_width", "too few points");
  const double without_steps = misfit(threads, times);
  double best = std::numeric_limits<double>::infinity(), width = 0;
  for (int candidate = 4; candidate <= 128; candidate *= 2) {
    std::vector<double> waves;
    waves.reserve(threads.size());
    for (const double number : threads) waves.push_back(std::ceil(number / candidate));
    const double distance = misfit(waves, times);
    if (distance < best) {
      best = distance;
      width = candidate;
    }
  }
  if (best > 0.05 || best > without_steps / 2) {
    return absent(figures, "gpu.wave_width",
                  "time does not step with work-items a work-group (steps of " +
                      short_number(width) + " are " + short_number(100 * best) +
                      " % off, a straight line " + short_number(100 * without_steps) + " %)");
  }
  add(figures, "gpu.wave_width", width, typical_spread(curve.points),
      "wave_width: time steps every so many work-items a work-group, " + short_number(100 * best) +
          " % off");
}

struct Rate {
  const char *curve, *path, *operations;
  double a_round;
};
constexpr Rate fma_rate{"wave_width", "gpu.fma_per_clock", "FMAs", 64};
constexpr Rate integer_rate{"rate_integer", "gpu.integer_per_clock", "integer operations", 128};
constexpr Rate special_rate{"rate_special", "gpu.special_per_clock", "reciprocal square roots", 64};

void add_rate(const ProbeData& data, const DeviceConfig& base, const Rate& rate, Figures* figures) {
  const MicrobenchCurve* curve = data.curve(rate.curve);
  if (curve == nullptr) return;
  const double a_clock = operations_a_clock(data, *curve, rate.a_round);
  figures->observations.push_back(
      {std::string(rate.operations) + " a clock and core", short_number(a_clock) + " at best"});
  if (figures->find("gpu.wave_width") == nullptr) {
    return absent(figures, rate.path,
                  "without waves, a work-item's chain of operations is timed, not the units' rate");
  }
  // Every engine has as many lanes, or they take turns at one unit.
  const double engines = base.values().at("gpu.issue_per_clock").number;
  const double lanes = a_clock < engines ? 1 : engines;
  add(figures, rate.path, std::max(lanes, std::round(a_clock / lanes) * lanes),
      typical_spread(curve->points),
      std::string(rate.curve) + ": " + short_number(a_clock) + " " + rate.operations +
          " a clock and core at best");
}

void add_half_ratio(const ProbeData& data, Figures* figures) {
  const MicrobenchCurve *half = data.curve("rate_half"), *full = data.curve("wave_width");
  if (half == nullptr || full == nullptr || figures->find("gpu.wave_width") == nullptr) return;
  const double ratio = operations_a_clock(data, *half, 64) / operations_a_clock(data, *full, 64);
  add(figures, "gpu.fp16_ratio", std::max(1.0, std::round(4 * ratio) / 4),
      typical_spread(half->points), "rate_half over wave_width: " + short_number(ratio));
}

void add_occupancy(const ProbeData& data, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("occupancy");
  if (curve == nullptr) return;
  const auto points = points_at(*curve, {{"local_bytes", 256}});
  if (points.size() < 3) return;
  const double limit = 1.5;
  std::string steps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].value < points[i - 1].value * 1.15) continue;
    steps += (steps.empty() ? "" : ", ") + std::to_string(points[i].axis("registers"));
  }
  figures->observations.push_back(
      {"waiting grows by 15 % or more at registers a work-item", steps.empty() ? "none" : steps});
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto before = points[i - 1].axis("registers"), after = points[i].axis("registers");
    if (after - before > 2 || points[i].value < limit * points[i - 1].value) continue;
    return add(figures, "gpu.full_occupancy_registers", static_cast<double>(before),
               typical_spread(points), "occupancy: waiting doubles at one register more");
  }
  absent(figures, "gpu.full_occupancy_registers", "no step between neighbouring register counts");
}

/// Bandwidths between two footprints.
std::vector<double> values_between(const std::vector<MicrobenchPoint>& points, double above,
                                   double up_to) {
  std::vector<double> values;
  for (const MicrobenchPoint& point : points) {
    const auto footprint = static_cast<double>(point.axis("footprint"));
    if (footprint > above && footprint <= up_to) values.push_back(point.value);
  }
  return values;
}

class BufferBandwidth {
 public:
  BufferBandwidth(const ProbeData& data, const DeviceConfig& base, Figures* figures)
      : data_(data), base_(base), figures_(figures) {
    points_ = points_at(*data.curve("bandwidth_buffer"), {{"width", 16}});
    spread_ = typical_spread(points_);
  }

  void add_levels() {
    const double first = number("load_store.cache_size");
    const auto fits = values_between(points_, 0, first);
    if (fits.empty()) {
      absent(figures_, "load_store.bytes_per_clock", "no footprint fits the first level");
    } else {
      best_ = *std::max_element(fits.begin(), fits.end());
      add(figures_, "load_store.bytes_per_clock", std::max(1.0, std::round(a_clock(best_))),
          spread_, "bandwidth_buffer: " + short_number(best_) + " GB/s of all cores");
    }
    const double middle = std::max(first, number("cluster.size")), second = number("l2.size");
    add_l2(values_between(points_, middle, second));
    add_beyond(second);
  }

  /// Of reads that the second level does not hold.
  void add_beyond_l2() { add_beyond(number("l2.size")); }

 private:
  double number(const std::string& path) const {
    return figures_->number_or(path, base_.values().at(path).number);
  }
  double a_clock(double gigabytes) const {
    return gigabytes * 1e9 / data_.clock_hertz / data_.cores;
  }

  void add_l2(const std::vector<double>& values) {
    const std::string path = "l2.bytes_per_clock";
    if (values.empty()) return absent(figures_, path, "no footprint lies in the L2 alone");
    const double rate = median(values);
    if (best_ == 0 || rate > 0.9 * best_) {
      return absent(figures_, path,
                    "reads as fast as the first level's: the cores' own limit, or their caches "
                    "serve some of them");
    }
    const double slices = base_.values().at("l2.slices").number;
    const double bytes = rate * 1e9 / data_.clock_hertz / slices;
    const double line = number("l2.line");
    add(figures_, path, std::min(line, std::max(1.0, std::round(bytes))), spread_,
        "bandwidth_buffer: " + short_number(rate) + " GB/s over the base's l2.slices" +
            (bytes > line ? ", at most a line a clock" : ""));
  }

  void add_beyond(double capacity) {
    const auto values = values_between(points_, capacity, 4 * capacity);
    if (values.empty()) return absent(figures_, "slc.bandwidth", "no footprint beyond the L2");
    const double rate = *std::max_element(values.begin(), values.end());
    if (best_ > 0 && rate > 0.9 * best_) {
      absent(figures_, "slc.bandwidth", "reads as fast as the first level's");
    } else {
      add(figures_, "slc.bandwidth", rate * 1e9, spread_,
          "bandwidth_buffer: the best footprint from the L2's size to four times it");
    }
    const MicrobenchPoint& largest = *std::max_element(
        points_.begin(), points_.end(), [](const MicrobenchPoint& a, const MicrobenchPoint& b) {
          return a.axis("footprint") < b.axis("footprint");
        });
    figures_->observations.push_back(
        {"bandwidth of " + bytes_text(static_cast<double>(largest.axis("footprint"))),
         short_number(largest.value) + " GB/s"});
  }

  const ProbeData& data_;
  const DeviceConfig& base_;
  Figures* figures_;
  std::vector<MicrobenchPoint> points_;
  double spread_ = 0, best_ = 0;
};

/// Texels a clock and core of the smallest footprints.
std::optional<double> texel_rate(const ProbeData& data, std::int64_t bytes) {
  const auto points = points_at(*data.curve("bandwidth_image"), {{"texel", bytes}});
  const auto values = values_between(points, 0, 1024);
  if (values.empty()) return {};
  return *std::max_element(values.begin(), values.end()) / data.cores;
}

void add_texels(const ProbeData& data, Figures* figures) {
  const auto narrow = texel_rate(data, 4), half = texel_rate(data, 8), full = texel_rate(data, 16);
  const double spread = typical_spread(data.curve("bandwidth_image")->points);
  if (!half || !full) return absent(figures, "texture.texels_per_clock", "formats are missing");
  constexpr double within = 0.15;
  const std::string rates = "bandwidth_image: " + (narrow ? short_number(*narrow) : "no") + ", " +
                            short_number(*half) + " and " + short_number(*full) +
                            " texels of 4, 8 and 16 B a clock and core";
  if (*full * 16 < 4) {
    return absent(figures, "texture.texels_per_clock",
                  rates + ": arithmetic, not a texture unit, takes the time");
  }
  if (narrow && agree(*narrow, *half, within) && agree(*half, *full, within)) {
    add(figures, "texture.return_bytes_per_clock", std::max(1.0, std::round(16 * *full)), spread,
        rates + ": their results of 16 B limit all");
    return absent(figures, "texture.texels_per_clock",
                  "results limit the rate: " + short_number(*narrow) + " or more");
  }
  if (agree(*half * 8, *full * 16, within)) {
    add(figures, "texture.bytes_per_clock", std::max(1.0, std::round((*half * 8 + *full * 16) / 2)),
        spread, rates);
  } else {
    absent(figures, "texture.bytes_per_clock", "rates do not go with bytes a texel");
  }
  if (!narrow) return absent(figures, "texture.texels_per_clock", "no texels of 4 B");
  add(figures, "texture.texels_per_clock", std::max(0.25, std::round(*narrow * 4) / 4), spread,
      rates);
}

/// Banks: the stride from which conflicts grow no more, while odd strides have none.
std::optional<double> banks_of(const std::vector<MicrobenchPoint>& points, std::string* reason) {
  const auto at = [&](std::int64_t stride) -> double {
    for (const MicrobenchPoint& point : points) {
      if (point.axis("stride") == stride) return point.value;
    }
    return 0;
  };
  for (const std::int64_t odd : {3, 7, 17, 33}) {
    if (at(odd) < 0.85 * at(1)) {
      *reason = "odd strides are slower than the stride of 1: no banks, or another limit";
      return {};
    }
  }
  for (std::int64_t stride = 2; stride <= 16; stride *= 2) {
    if (at(stride) < 0.75 * at(1) && at(2 * stride) > 0.85 * at(stride)) {
      return static_cast<double>(stride);
    }
  }
  *reason = at(32) < 0.75 * at(1) ? "conflicts grow up to a stride of 32: 32 banks or more"
                                  : "no stride is slower than another";
  return {};
}

}  // namespace

double operations_a_clock(const ProbeData& data, const MicrobenchCurve& curve, double a_round) {
  constexpr double groups = 240;  // of the kernels (kernels/microbench_rates.cpp)
  double most = 0;
  for (const MicrobenchPoint& point : curve.points) {
    const double items = groups * static_cast<double>(point.axis("threads"));
    most = std::max(most, items * a_round / point.value);
  }
  return most * 1e9 / data.clock_hertz / data.cores;
}

void add_wave_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  if (const MicrobenchCurve* curve = data.curve("wave_width")) {
    add_wave_width(*curve, figures);
  }
  for (const Rate& rate : {fma_rate, integer_rate, special_rate}) {
    add_rate(data, base, rate, figures);
  }
  add_half_ratio(data, figures);
  add_occupancy(data, figures);
}

void add_bandwidth_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  const bool one_by_one = computes_one_by_one(base);
  if (data.curve("bandwidth_buffer") != nullptr) {
    BufferBandwidth buffer(data, base, figures);
    one_by_one ? buffer.add_beyond_l2() : buffer.add_levels();
  }
  if (data.curve("bandwidth_image") != nullptr && !one_by_one) add_texels(data, figures);
}

void add_local_figures(const ProbeData& data, const DeviceConfig&, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("local_memory");
  if (curve == nullptr) return;
  std::string reason;
  const auto banks = banks_of(points_at(*curve, {{"width", 4}}), &reason);
  if (!banks) {
    absent(figures, "local.banks", reason);
    return absent(figures, "local.bytes_per_clock", "without banks, what limits it is not known");
  }
  const double spread = typical_spread(curve->points);
  add(figures, "local.banks", *banks, spread,
      "local_memory: conflicts grow up to this stride, odd strides have none");
  double most = 0;
  for (const MicrobenchPoint& point : curve->points) most = std::max(most, point.value);
  const double bytes = most * 1e9 / data.clock_hertz / data.cores;
  add(figures, "local.bytes_per_clock", std::min(4 * *banks, std::max(1.0, std::round(bytes))),
      spread, "local_memory: " + short_number(most) + " GB/s of all cores at best");
}

}  // namespace fm
