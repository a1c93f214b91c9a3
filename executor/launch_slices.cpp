#include "executor/launch_slices.hpp"

#include <algorithm>
#include <cmath>

namespace fm {
namespace {

constexpr double work_of_an_item = 16;  // of kernels without multiply-adds

double work_of(const PlanLaunch& launch) {
  double items = 1;
  for (const std::uint64_t size : launch.global) items *= static_cast<double>(size);
  return std::max(static_cast<double>(launch.macs), work_of_an_item * items);
}

double first_rate(const OpenClDevice& device) {
  constexpr double unknown_clock_mhz = 500;
  const double mhz = device.clock_mhz > 0 ? device.clock_mhz : unknown_clock_mhz;
  return 2 * mhz * 1e-3 * device.compute_units;
}

}  // namespace

std::vector<LaunchSlice> slices_of(WorkSize global, WorkSize local, std::uint64_t count) {
  std::size_t along = 0;
  for (std::size_t d = 1; d < 3; ++d) {
    if (global[d] / local[d] > global[along] / local[along]) along = d;
  }
  const std::uint64_t groups = global[along] / local[along];
  count = std::min(count, groups);
  std::vector<LaunchSlice> slices;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = groups * i / count, end = groups * (i + 1) / count;
    LaunchSlice& slice = slices.emplace_back(LaunchSlice{{}, global});
    slice.offset[along] = begin * local[along];
    slice.global[along] = (end - begin) * local[along];
  }
  return slices;
}

LaunchCap::LaunchCap(Nanoseconds cap, const OpenClDevice& device)
    : cap_(static_cast<double>(cap.count())), rate_(first_rate(device)) {}

std::vector<LaunchSlice> LaunchCap::slices(const PlanLaunch& launch) const {
  const auto before = took_.find(launch.id);
  const double time = before != took_.end() ? before->second : work_of(launch) / rate_;
  const double count = std::ceil(time / cap_);
  constexpr double most = 1e6;
  return slices_of(launch.global, launch.local,
                   static_cast<std::uint64_t>(std::clamp(count, 1.0, most)));
}

void LaunchCap::measured(const PlanLaunch& launch, std::uint64_t nanoseconds) {
  const auto time = static_cast<double>(nanoseconds);
  double& took = took_[launch.id];
  took = std::max(took, time);
  // Of a short launch most is overhead.
  if (time > cap_ / 8) rate_ = std::min(rate_, work_of(launch) / time);
}

std::optional<Nanoseconds> default_launch_cap(const OpenClDevice& device) {
  if (device.computes_in_host_memory()) return std::nullopt;
  return Nanoseconds(100'000'000);
}

}  // namespace fm
