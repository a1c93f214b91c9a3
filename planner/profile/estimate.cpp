#include "planner/profile/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace fm {
namespace {

constexpr double share_of_peak_arithmetic = 0.2;
constexpr double share_of_peak_traffic = 0.6;
constexpr double hidden_cost = 0.2;

double argument_bytes(const Plan& plan, const PlanLaunch& launch) {
  std::set<std::string> counted;
  double bytes = 0;
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument);
    if (tensor == nullptr || !counted.insert(tensor->tensor).second) continue;
    bytes += static_cast<double>(plan.tensor(tensor->tensor).bytes.count());
  }
  return bytes;
}

Nanoseconds nanoseconds(double time) {
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(time)));
}

double bytes_a_nanosecond(const DeviceConfig& config) {
  return dram_peak_bandwidth(config) * 1e-9 * share_of_peak_traffic;
}

}  // namespace

Nanoseconds estimated_time(const Plan& plan, const PlanLaunch& launch, const DeviceConfig& config) {
  const double half = plan.accumulate == DataType::f16 ? config.ratio("gpu.fp16_ratio") : 1;
  const double macs_a_nanosecond = config.ratio("gpu.fma_per_clock") * half *
                                   static_cast<double>(config.count("gpu.cores")) *
                                   config.hertz("gpu.clock") * 1e-9 * share_of_peak_arithmetic;
  const double overhead = static_cast<double>(config.time("host.launch_overhead").count()) * 1e-3;
  const double arithmetic = static_cast<double>(launch.macs) / macs_a_nanosecond;
  const double traffic = argument_bytes(plan, launch) / bytes_a_nanosecond(config);
  return nanoseconds(overhead + std::max(arithmetic, traffic));
}

SlowdownCurve estimated_slowdown(const Plan& plan, const PlanLaunch& launch,
                                 const DeviceConfig& config, Nanoseconds time) {
  const double allowed =
      allowed_slowdown(operator_class(launch.kernel)) * static_cast<double>(time.count());
  if (allowed <= 0) return {};
  const double cost = 2 / bytes_a_nanosecond(config);  // a streamed byte is read and written
  const double own = argument_bytes(plan, launch) / bytes_a_nanosecond(config);
  const double hidden = std::max(0.0, static_cast<double>(time.count()) - own) / cost;
  const double hidden_time = hidden * cost * hidden_cost;
  SlowdownCurve curve;
  if (hidden >= 1) {
    curve.push_back({Bytes(static_cast<std::uint64_t>(hidden) + 1), nanoseconds(hidden_time)});
  }
  if (hidden_time < allowed) {
    const double bytes = hidden + (allowed - hidden_time) / cost;
    curve.push_back({Bytes(static_cast<std::uint64_t>(bytes) + 2), nanoseconds(allowed)});
  }
  return curve;
}

}  // namespace fm
