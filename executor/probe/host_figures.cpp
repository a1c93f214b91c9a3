// What the host and storage cost: launches, maps, copies, reads.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "executor/probe/figures.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

/// One point's value; 0 where it was not measured.
double value_at(const ProbeData& data, const std::string& name,
                const std::vector<std::pair<std::string, std::int64_t>>& axes, double* spread) {
  if (data.curve(name) == nullptr) return 0;
  const auto points = points_at(*data.curve(name), axes);
  if (points.empty()) return 0;
  *spread = points.front().spread;
  return points.front().value;
}

/// Waited for one by one, a launch costs host and device; one behind another, the slower of them.
void add_launches(const ProbeData& data, Figures* figures) {
  double spread = 0;
  const double alone = value_at(data, "launch_latency", {{"queued", 1}}, &spread);
  const double behind = value_at(data, "launch_latency", {{"queued", 16}}, &spread);
  if (alone == 0 || behind == 0) return;
  const double enqueue = value_at(data, "enqueue", {{"queued", 16}}, &spread);
  const double host = enqueue > 0 ? enqueue : behind;
  figures->found.push_back({"host.enqueue_overhead",
                            host * 1e3,
                            {},
                            spread,
                            enqueue > 0 ? "enqueue: the host's time in clEnqueueNDRangeKernel"
                                        : "launch_latency: one launch behind another"});
  if (alone <= host) {
    figures->not_visible.push_back(
        {"host.launch_overhead", "a launch waited for costs no more than enqueueing it"});
    return;
  }
  figures->found.push_back({"host.launch_overhead",
                            (alone - host) * 1e3,
                            {},
                            spread,
                            "launch_latency: " + short_number(alone / 1e3) +
                                " us from wait to wait, less host.enqueue_overhead"});
}

struct SizedTime {
  double bytes, nanoseconds, spread;
};

std::vector<SizedTime> times_by(const MicrobenchCurve& curve, const std::string& axis,
                                const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::vector<SizedTime> times;
  for (const MicrobenchPoint& point : points_at(curve, axes)) {
    const auto bytes = static_cast<double>(point.axis(axis));
    times.push_back({bytes, bytes / point.value, point.spread});
  }
  std::sort(times.begin(), times.end(),
            [](const SizedTime& a, const SizedTime& b) { return a.bytes < b.bytes; });
  return times;
}

struct Line {
  double start = 0, slope = 0;
};

/// Theil and Sen: medians of all pairs' slopes and of what is left. Of at least two.
Line line_through(const std::vector<SizedTime>& times) {
  std::vector<double> slopes, starts;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t j = i + 1; j < times.size(); ++j) {
      slopes.push_back((times[j].nanoseconds - times[i].nanoseconds) /
                       (times[j].bytes - times[i].bytes));
    }
  }
  const double slope = median(slopes);
  for (const SizedTime& time : times) starts.push_back(time.nanoseconds - slope * time.bytes);
  return {median(starts), slope};
}

void add_disk(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  const MicrobenchCurve* curve = data.curve("disk_read");
  if (curve == nullptr || curve->points.size() < 2) return;
  const auto times = times_by(*curve, "request", {});
  const double spread = typical_spread(curve->points);
  const auto [start, a_byte] = line_through(times);
  const double host = base.values().at("host.disk_request_cpu").number / 1e3;
  if (a_byte > 0) {
    figures->observations.push_back(
        {"storage, one request at a time, beyond its start", short_number(1 / a_byte) + " GB/s"});
  }
  if (a_byte > 0 && start > host) {
    figures->found.push_back({"storage.command_latency",
                              (start - host) * 1e3,
                              {},
                              spread,
                              "disk_read: " + short_number(start / 1e3) +
                                  " us before the first byte, less the base's "
                                  "host.disk_request_cpu"});
  } else {
    figures->not_visible.push_back(
        {"storage.command_latency", "requests' times do not grow with their bytes from a start"});
  }
  const MicrobenchCurve* deep = data.curve("disk_read_deep");
  if (deep == nullptr) {
    figures->not_visible.push_back(
        {"storage.read_bandwidth", "one request at a time does not keep the queue full"});
    return;
  }
  Figure figure{"storage.read_bandwidth", 0, {}, typical_spread(deep->points), "disk_read_deep"};
  for (const SizedTime& time : times_by(*deep, "request", {})) {
    figure.curve.push_back({time.bytes, time.bytes / time.nanoseconds * 1e9});
  }
  figures->found.push_back(std::move(figure));
}

/// The largest copies' further bytes: what a copy costs at its start is left out.
void add_bandwidth(const ProbeData& data, const std::string& name, const std::string& path,
                   const std::vector<std::pair<std::string, std::int64_t>>& axes,
                   Figures* figures) {
  const MicrobenchCurve* curve = data.curve(name);
  if (curve == nullptr) return;
  const auto times = times_by(*curve, "bytes", axes);
  if (times.size() < 2) return;
  const SizedTime &last = times.back(), &before = times[times.size() - 2];
  const double more = last.nanoseconds - before.nanoseconds;
  if (more <= 0) {
    figures->not_visible.push_back({path, "larger copies take no longer"});
    return;
  }
  figures->found.push_back({path,
                            (last.bytes - before.bytes) / more * 1e9,
                            {},
                            last.spread,
                            name + ": bytes beyond " + bytes_text(before.bytes)});
}

}  // namespace

void add_host_figures(const ProbeData& data, const DeviceConfig& base, Figures* figures) {
  add_launches(data, figures);
  add_disk(data, base, figures);
  add_bandwidth(data, "copy_to_image", "host.copy_bandwidth", {{"texel", 8}}, figures);
  add_bandwidth(data, "transfer", "host.transfer_bandwidth", {}, figures);
  double spread = 0;
  if (const double map = value_at(data, "map", {{"bytes", 4096}}, &spread); map > 0) {
    figures->found.push_back(
        {"host.map_overhead", map * 1e3, {}, spread, "map: a map or unmap of 4 KiB"});
  }
}

void add_driver_facts(const ProbeData& data, Figures* figures) {
  const auto add = [&](const std::string& path, const std::string& fact, const std::string& query,
                       double unit) {
    const double number = fact_of(data, fact);
    if (number <= 0) return;
    figures->found.push_back(
        {path, number * unit, {}, 0, "the driver says " + query, SourceKind::spec});
  };
  if (data.facts.empty()) return;
  figures->found.push_back({"gpu.cores",
                            data.cores,
                            {},
                            0,
                            "the driver says CL_DEVICE_MAX_COMPUTE_UNITS, twice with Adreno's",
                            SourceKind::spec});
  add("gpu.clock", "clock_mhz", "CL_DEVICE_MAX_CLOCK_FREQUENCY", 1e6);
  add("local.size", "local_memory_bytes", "CL_DEVICE_LOCAL_MEM_SIZE", 1);
  add("limits.image_width", "image2d_max_width", "CL_DEVICE_IMAGE2D_MAX_WIDTH", 1);
  add("limits.image_height", "image2d_max_height", "CL_DEVICE_IMAGE2D_MAX_HEIGHT", 1);
  add("limits.max_allocation", "max_allocation_bytes", "CL_DEVICE_MAX_MEM_ALLOC_SIZE", 1);
}

}  // namespace fm
