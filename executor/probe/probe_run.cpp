#include "executor/probe/probe_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <sstream>

#include "core/diagnostics.hpp"
#include "executor/probe/host_caches.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

constexpr std::size_t most_rounds = 21;
/// Measurements between two runs of the reference launch.
constexpr std::size_t reference_every = 40;
constexpr double drift_limit = 0.05;
constexpr std::size_t most_failures = 5;
const std::vector<std::string> host_curves{"transfer", "map"},
    disk_curves{"disk_read", "disk_read_deep"};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = "";
  std::tm parts{};
  std::strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&now, &parts));
  return text;
}

bool wanted(const ProbeOptions& options, const std::string& name) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

struct PointSamples {
  ProbePoint point;
  std::vector<Sample> samples;
  std::string failure;
};

class Probe {
 public:
  Probe(ProbeDevice& device, const ProbeOptions& options) : device_(device), options_(options) {
    for (Microbench& bench : probe_suite()) {
      if (!wanted(options, bench.name) || bench.name == "disk_read") continue;
      runners_.push_back(std::make_unique<BenchRunner>(device, std::move(bench)));
      add(runners_.back()->measurements(&notes_));
    }
    if (wanted(options, "transfer") || wanted(options, "map")) add(host_measurements(device));
    if (wanted(options, "disk_read") || wanted(options, "disk_read_deep")) {
      add(disk_measurements(options.disk_folder, &notes_));
    }
    add_reference();
  }

  ProbeData run(const std::function<void(std::size_t, std::size_t)>& progress) {
    const auto began = std::chrono::steady_clock::now();
    const auto time_is_up = [&] {
      return std::chrono::steady_clock::now() - began >
             std::chrono::duration<double>(options_.seconds);
    };
    std::size_t done = 0;
    const std::size_t total = points_.size() * most_rounds;
    for (std::size_t round = 0; round < most_rounds; ++round) {
      for (PointSamples& point : points_) {
        if (time_is_up()) return data();
        progress(done, total);
        if (done++ % reference_every == 0) {
          const Sample sample = reference_.front().measure();
          reference_ns_.push_back(sample.nanoseconds / sample.work);
        }
        measure(&point);
      }
    }
    return data();
  }

 private:
  void add(std::vector<ProbePoint> points) {
    for (ProbePoint& point : points) {
      const bool own = point.curve == "enqueue" || wanted(options_, point.curve);
      if (own) points_.push_back({std::move(point), {}, ""});
    }
  }

  /// Arithmetic alone: only the clock changes its time.
  void add_reference() {
    for (Microbench& bench : probe_suite()) {
      if (bench.name != "wave_width") continue;
      runners_.push_back(std::make_unique<BenchRunner>(device_, std::move(bench)));
      std::vector<std::string> unused;
      for (ProbePoint& point : runners_.back()->measurements(&unused)) {
        if (point.axes.front().second == 64) reference_.push_back(std::move(point));
      }
    }
    if (reference_.empty()) throw DeviceError("the device runs no work-groups of 64 work-items");
  }

  /// One point may be more than the device takes; one after another is a device that is lost.
  void measure(PointSamples* point) {
    if (!point->failure.empty()) return;
    try {
      const Sample sample = point->point.measure();
      if (sample.nanoseconds > 0 && sample.work > 0) point->samples.push_back(sample);
      failures_in_a_row_.clear();
    } catch (const DeviceError& error) {
      point->failure = error.what();
      failures_in_a_row_.push_back(point->failure);
      if (failures_in_a_row_.size() == most_failures) {
        throw DeviceError(failures_in_a_row_.front());
      }
    }
  }

  static std::string named(const ProbePoint& point) {
    std::string name = point.curve;
    for (const auto& [axis, place] : point.axes) name += " " + axis + "=" + std::to_string(place);
    return name;
  }

  ProbeData data() {
    const OpenClDevice& device = device_.context.device();
    ProbeData data;
    data.device = device.name;
    data.date = today();
    data.clock_hertz = device.clock_mhz * 1e6;
    data.cores = device.compute_units;
    data.order = device_.order;
    data.facts = device.facts();
    if (device.computes_in_host_memory()) data.facts.merge(host_cache_facts());
    data.reference_ns = reference_ns_;
    data.notes = notes_;
    if (device.computes_in_host_memory() && load_before_ > 0.5) {
      std::ostringstream load;
      load << std::fixed << std::setprecision(1) << load_before_;
      data.notes.push_back("other programs ran: " + load.str() +
                           " of them on average in the minute before");
    }
    if (device.clock_mhz == 0) {
      data.notes.push_back("the driver says no clock: nothing a cycle is known");
    }
    for (const PointSamples& point : points_) add_point(point, &data);
    if (data.curves.empty()) {
      throw DeviceError("nothing could be measured" +
                        (data.notes.empty() ? "" : ": " + data.notes.back()));
    }
    if (const double drift = drift_of(reference_ns_); std::abs(drift) > drift_limit) {
      data.notes.push_back("the device's clock drifted: the same launch took " +
                           std::to_string(static_cast<int>(std::lround(100 * drift))) +
                           " % longer in the second half; let it cool, or stop other programs");
    }
    return data;
  }

  void add_point(const PointSamples& point, ProbeData* data) const {
    if (!point.failure.empty()) {
      data->notes.push_back(named(point.point) + " failed: " + point.failure);
      return;
    }
    if (point.samples.empty()) {
      data->notes.push_back(named(point.point) +
                            " is not measured: time was up, or more work took no longer");
      return;
    }
    if (point.point.unit == "texel/clk" && data->clock_hertz == 0) return;
    std::vector<double> values;
    for (const Sample& sample : point.samples) {
      values.push_back(
          microbench_value(sample.nanoseconds, sample.work, point.point.unit, data->clock_hertz));
    }
    MicrobenchCurve& curve = data->curves[point.point.curve];
    curve.name = point.point.curve;
    curve.unit = point.point.unit;
    curve.points.push_back({point.point.axes, median(values), relative_spread(values)});
  }

  ProbeDevice& device_;
  const ProbeOptions& options_;
  std::vector<std::string> notes_;
  std::vector<std::unique_ptr<BenchRunner>> runners_;  // points refer to them
  std::vector<PointSamples> points_;
  std::vector<ProbePoint> reference_;
  std::vector<double> reference_ns_;
  std::vector<std::string> failures_in_a_row_;
  double load_before_ = load_average();
};

}  // namespace

std::vector<std::string> probe_curve_names() {
  std::vector<std::string> names;
  for (const Microbench& bench : probe_suite()) {
    if (bench.name != "disk_read") names.push_back(bench.name);
  }
  names.insert(names.end(), host_curves.begin(), host_curves.end());
  names.insert(names.end(), disk_curves.begin(), disk_curves.end());
  return names;
}

void check_curves(const std::vector<std::string>& only) {
  const std::vector<std::string> names = probe_curve_names();
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UserError("--only " + name + ": " + accepted_words(name, names));
    }
  }
}

ProbeData probe(ProbeDevice& device, const ProbeOptions& options,
                const std::function<void(std::size_t, std::size_t)>& progress) {
  return Probe(device, options).run(progress);
}

}  // namespace fm
