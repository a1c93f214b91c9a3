#pragma once
// Memory for launches that are only timed: filled, so that no value is NaN or a denormal.

#include <map>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "executor/opencl_objects.hpp"

namespace fm {

/// One object a tensor, made on first use. `context`, `queue` and `plan` outlive it.
class LaunchMemory {
 public:
  LaunchMemory(const OpenClContext& context, const OpenClQueue& queue, const Plan& plan)
      : context_(context), queue_(queue), plan_(plan) {}

  const OpenClMemory& of(const std::string& tensor);
  /// The launch's arguments.
  std::vector<KernelValue> values(const PlanLaunch& launch);

 private:
  const OpenClContext& context_;
  const OpenClQueue& queue_;
  const Plan& plan_;
  std::map<std::string, OpenClMemory> memory_;  // by tensor
};

/// What a launch takes.
struct LaunchTime {
  double nanoseconds = 0;   ///< at least 1
  bool host_timed = false;  ///< the driver gave no times: until the host saw it complete
};
/// Enqueues, waits and times: `repetitions` one after the other, for the time of one. `name` is
/// what messages call it.
LaunchTime time_launch(const OpenClQueue& queue, const OpenClKernel& kernel, WorkSize global,
                       WorkSize local, const std::string& name, std::size_t repetitions = 1);

/// How often a launch that took `once` is to run for its time to be told from the clock's tick and
/// the driver's overhead: until all take 16 ms together, at most 1000 times. Once where the launch
/// reads what it writes, so that it computes something else each time, and on a CPU that gives
/// times, since its clock is exact.
std::size_t repetitions_of(const PlanLaunch& launch, const LaunchTime& once,
                           const OpenClDevice& device);

}  // namespace fm
