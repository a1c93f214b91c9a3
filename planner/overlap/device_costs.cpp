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
  double time = 0;
  for (std::uint64_t left = bytes.count(); left > 0;) {
    const std::uint64_t size = std::min(left, request.count());
    const ReadCost cost = read_cost(static_cast<double>(size));
    time += std::max(cost.data, (cost.data + cost.overhead) / reader_threads);
    left -= size;
  }
  return rounded(time);
}

Nanoseconds DeviceCosts::part_overhead(Bytes part) const {
  const ReadCost cost = read_cost(static_cast<double>(part.count()));
  return rounded(
      std::max(0.0, (cost.overhead - (reader_threads - 1) * cost.data) / reader_threads));
}

DeviceCosts::ReadCost DeviceCosts::read_cost(double bytes) const {
  const double maintained =
      bytes / config_.bytes_per_second("host.cache_maintenance_bandwidth") * 1e9;
  ReadCost cost;
  cost.data = bytes / curve_at(config_.curve("storage.read_bandwidth"), bytes) * 1e9;
  cost.overhead = nanoseconds(config_.time("host.disk_request_cpu")) +
                  nanoseconds(config_.time("storage.command_latency")) +
                  2 * (nanoseconds(config_.time("host.map_overhead")) + maintained);
  return cost;
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
  cost.allocation = rounded(nanoseconds(config_.time("allocator.base_cost")));
  cost.allocation_nanoseconds_per_byte =
      nanoseconds(config_.time("allocator.page_cost")) /
      static_cast<double>(config_.bytes("mmu.page_size").count());
  if (config_.flag("allocator.zero_pages")) {
    cost.allocation_nanoseconds_per_byte +=
        1e9 / config_.bytes_per_second("allocator.zeroing_bandwidth");
  }
  return cost;
}

Nanoseconds DeviceCosts::program_load(const Plan& plan) const {
  std::set<std::string> programs;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kind == LaunchKind::kernel) programs.insert(program_name(plan, launch));
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
