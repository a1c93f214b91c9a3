#pragma once
// What happened in a simulated run, as the result needs it.

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace.pb.h"
#include "sim/gpu/gpu.hpp"
#include "sim/power/energy_model.hpp"

namespace fm {

/// A launch or copy that ended.
struct LoggedCommand {
  const trace::HostOperation* operation = nullptr;
  std::string
      name;  ///< its plan launch id; of a copy outside the plan's launches, the image it fills
  Picoseconds start, end;
  EnergyByComponent energy;
  GpuLaunchReport report;  ///< copies: only `bound`, "launch" when mostly overhead, else "dram"
  double gpu_speed = 1;    ///< share of gpu.clock while it ran
};

struct LoggedInterval {
  std::string lane, name;
  Picoseconds start, end;
};

struct RunLog {
  std::vector<LoggedCommand> commands;    ///< in the order they ended
  std::vector<LoggedInterval> intervals;  ///< host threads and disk
  Picoseconds startup;                    ///< context and programs
  Picoseconds end;                        ///< of the last operation
};

}  // namespace fm
