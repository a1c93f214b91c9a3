#include "sim/gpu/launch_context.hpp"

#include <algorithm>

namespace fm {

LaunchContext::LaunchContext(const CoreParameters& parameters, const GpuLaunch& launch)
    : program(launch.program),
      patterns(launch.patterns),
      planner(parameters, launch),
      waves_per_group(launch.program->waves_per_group()),
      groups_per_core(parameters.occupancy.groups(waves_per_group, launch.registers,
                                                  launch.program->local_bytes())),
      local_bytes(launch.program->local_bytes()),
      lanes(parameters.lanes) {
  if (launch.half_arithmetic) {
    for (const trace::ArithmeticKind kind : {trace::FMA, trace::ADD, trace::SPECIAL}) {
      auto& rate = lanes[static_cast<std::size_t>(kind)];
      rate = std::max(1u, static_cast<std::uint32_t>(rate * parameters.half_speedup));
    }
  }
}

}  // namespace fm
