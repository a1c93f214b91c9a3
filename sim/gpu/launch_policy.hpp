#pragma once
// What of a launch is simulated: the command processor asks, sampling answers.

#include "sim/gpu/gpu.hpp"
#include "sim/memory/line_request.hpp"

namespace fm {

/// What a command processor does next with the launch it works on.
struct LaunchStep {
  enum class Kind {
    run,   ///< dispatch the launch's work-groups, until all traffic of the cores is answered
    rest,  ///< nothing for `duration`
    end    ///< the launch is over, now
  };
  Kind kind = Kind::end;
  Ticks duration = 0;
};

class LaunchPolicy {
 public:
  virtual ~LaunchPolicy() = default;
  /// Whether `launch` ends as soon as its turn comes: no time, no counts, none of the calls below.
  virtual bool skips(const GpuLaunch& /*launch*/) { return false; }
  /// A launch follows that takes a measured time: it is not asked about, and what it moves is not
  /// the launch's before it.
  virtual void before_measured() {}
  /// The overhead of `launch` has passed; nothing of it was dispatched or counted.
  virtual void begin(const GpuLaunch& launch, Ticks now) = 0;
  /// The next step of the launch that began last: asked at first and after each step.
  virtual LaunchStep next(Ticks now) = 0;
};

}  // namespace fm
