#include "sim/gpu/launch_context.hpp"

#include <algorithm>
#include <cmath>

namespace fm {

LaunchContext::LaunchContext(const CoreParameters& parameters, const GpuLaunch& launch)
    : program(launch.program),
      patterns(launch.patterns),
      planner(parameters, launch),
      waves_per_group(launch.program->waves_per_group()),
      occupancy(parameters.occupancy.fit(waves_per_group, launch.registers,
                                         launch.program->local_bytes())),
      groups_per_core(occupancy.groups),
      local_bytes(launch.program->local_bytes()) {
  for (std::size_t i = 0; i < arithmetic_kind_count; ++i) {
    const auto kind = static_cast<trace::ArithmeticKind>(i);
    const bool faster = kind == trace::FMA || kind == trace::ADD || kind == trace::SPECIAL;
    const double speedup = launch.half_arithmetic && faster ? parameters.half_speedup : 1;
    lanes[i] = Divider(static_cast<std::uint64_t>(
        std::max(1.0, std::round(parameters.lanes[i] * speedup * lane_parts))));
  }
}

}  // namespace fm
