#pragma once
// What all cores share while they run one launch.

#include <array>
#include <cstdint>

#include "sim/gpu/core_parameters.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/gpu/line_plan.hpp"

namespace fm {

/// Rates of arithmetic need not be whole lanes a cycle.
constexpr std::uint64_t lane_parts = 1024;

struct LaunchContext {
  LaunchContext(const CoreParameters& parameters, const GpuLaunch& launch);

  const CompiledProgram* program;
  PatternTable* patterns;
  LinePlanner planner;
  std::uint32_t waves_per_group;
  Occupancy::Fit occupancy;
  std::uint32_t groups_per_core;  ///< resident at a time
  std::uint64_t local_bytes;      ///< of one work-group
  /// Lanes a cycle and engine x lane_parts, by arithmetic kind, for this launch's operand width.
  std::array<Divider, arithmetic_kind_count> lanes;
};

}  // namespace fm
