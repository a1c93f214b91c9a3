#include "planner/overlap/device_costs.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "kernels/catalogue.hpp"

namespace fm {
namespace {

double nanoseconds(Picoseconds time) { return static_cast<double>(time.count()) * 1e-3; }

Nanoseconds rounded(double time) {
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(time)));
}

}  // namespace

Nanoseconds DeviceCosts::read_time(Bytes bytes, Bytes request) const {
  const std::vector<CurvePoint>& bandwidth = config_.curve("storage.read_bandwidth");
  double time = 0;
  for (std::uint64_t left = bytes.count(); left > 0;) {
    const std::uint64_t size = std::min(left, request.count());
    const auto as_double = static_cast<double>(size);
    time += request_time() + as_double / curve_at(bandwidth, as_double) * 1e9;
    left -= size;
  }
  const double maintained = static_cast<double>(bytes.count()) /
                            config_.bytes_per_second("host.cache_maintenance_bandwidth") * 1e9;
  return rounded(time + 2 * (nanoseconds(config_.time("host.map_overhead")) + maintained));
}

Nanoseconds DeviceCosts::part_overhead() const {
  return rounded(request_time() + 2 * nanoseconds(config_.time("host.map_overhead")));
}

double DeviceCosts::request_time() const {
  return nanoseconds(config_.time("host.disk_request_cpu")) +
         nanoseconds(config_.time("storage.command_latency"));
}

CopyCost DeviceCosts::copy() const {
  CopyCost cost;
  // Beside kernels they take no time between them.
  if (config_.flag("queue.copy_overlaps_compute")) return cost;
  cost.base = rounded(nanoseconds(config_.time("host.launch_overhead")));
  cost.nanoseconds_per_byte =
      copy_nanoseconds_per_byte_.value_or(1e9 / config_.bytes_per_second("host.copy_bandwidth"));
  return cost;
}

HostCost DeviceCosts::host() const {
  HostCost cost;
  cost.enqueue = rounded(nanoseconds(config_.time("host.enqueue_overhead")));
  cost.image = rounded(nanoseconds(config_.time("allocator.base_cost")));
  cost.image_nanoseconds_per_byte = nanoseconds(config_.time("allocator.page_cost")) /
                                    static_cast<double>(config_.bytes("mmu.page_size").count());
  if (config_.flag("allocator.zero_pages")) {
    cost.image_nanoseconds_per_byte +=
        1e9 / config_.bytes_per_second("allocator.zeroing_bandwidth");
  }
  return cost;
}

Nanoseconds DeviceCosts::program_load(const Plan& plan) const {
  std::set<std::string> programs;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind == LaunchKind::copy) continue;
    programs.insert(launch.kernel + " " + compile_options(plan, launch, false));
  }
  return rounded(nanoseconds(config_.time("host.program_load")) *
                 static_cast<double>(programs.size()));
}

Nanoseconds DeviceCosts::disk_floor(Bytes bytes) const {
  double best = 0;
  for (const CurvePoint& point : config_.curve("storage.read_bandwidth")) {
    best = std::max(best, point.y);
  }
  return rounded(static_cast<double>(bytes.count()) / best * 1e9);
}

}  // namespace fm
