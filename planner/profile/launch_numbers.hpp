#pragma once
// What is known of a launch without running it: the numbers that times are learnt from.

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace fm {

/// Of a bare launch. Kept in profiles as it is, so that what a model makes of it may change.
struct LaunchNumbers {
  double tile = 0, tile4 = 0;  ///< rows (neighbours along W) and texels of output a work-item
  double transposed = 0, pointwise = 0, whole = 0;  ///< parameters of these names, 0 or 1
  double special = 0;                               ///< 1: its activation needs special functions
  double items = 0, groups = 0, group_items = 0;    ///< work-items and work-groups
  double macs = 0;
  double image_read = 0, buffer_read = 0;        ///< bytes of its tensors, each once
  double image_written = 0, buffer_written = 0;  ///< bytes
  double loads = 0;       ///< texels that all work-items together load, guards taken
  double iterations = 0;  ///< of the loop in which a work-item streams; 1 without a loop
  double pipelined = 0;   ///< 1: it streams a texel an iteration, 0: in runs of four
  /// Registers a work-item by instruction set.
  double valhall = 0, bifrost = 0, adreno = 0;
  double local_bytes = 0;  ///< local memory a work-group
  double waits = 0;        ///< loads of a work-item that it waits for, one after the other
  double divisions = 0;    ///< quotients and remainders a work-item
  double run = 0;          ///< neighbours of a work-group that move neighbouring texels

  double read() const { return image_read + buffer_read; }
  double written() const { return image_written + buffer_written; }
};
LaunchNumbers launch_numbers(const Plan& plan, const PlanLaunch& launch);

/// Every number by name, in the order of files.
struct LaunchNumberName {
  const char* name;
  double LaunchNumbers::*number;
};
const std::vector<LaunchNumberName>& launch_number_names();

}  // namespace fm
