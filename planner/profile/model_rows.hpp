#pragma once
// What a model sees of a launch on a device: times that its parts would take alone, in relation to
// each other, so that what is learnt on one device and shape holds for others.

#include <string>
#include <vector>

#include "core/units.hpp"
#include "planner/profile/device_rates.hpp"
#include "planner/profile/launch_numbers.hpp"

namespace fm {

struct LaunchFacts {
  const std::string& kernel;
  const LaunchNumbers& numbers;
  const DeviceRates& rates;
};

/// Nanoseconds of the bare launch if nothing of it overlapped: launch overhead, arithmetic, loads
/// and DRAM traffic at the device's full rates, and each load waited for.
double parts_in_turn(const LaunchFacts& facts);
/// Nanoseconds that this launch's work-items need to move so much, alone and one step after the
/// other: four texels loaded at a time, stores as a core may have them on their way, and both over
/// the slowest link. In proportion to `streamed`.
double streaming_alone(const LaunchFacts& facts, Bytes streamed);

using ModelRow = std::vector<float>;
/// For the bare time over parts_in_turn().
ModelRow bare_row(const LaunchFacts& facts);
/// For the extra time over streaming_alone(), of a launch that takes `time` bare.
ModelRow streamed_row(const LaunchFacts& facts, Nanoseconds time, Bytes streamed);

}  // namespace fm
