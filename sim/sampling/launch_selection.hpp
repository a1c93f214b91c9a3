#pragma once
// fmsim --launches: a few launches of a trace, simulated alone.

#include <set>
#include <string>

#include "core/trace_file.hpp"
#include "sim/gpu/launch_policy.hpp"
#include "sim/memory/memory_system.hpp"

namespace fm {

/// The ids of the launches that `text` names: "3:7" (the fourth to the seventh of the trace),
/// "L3:L7" (the same by id, the last one excluded) or one launch, "3" or "L3". Throws UserError.
std::set<std::string> selected_launches(const std::string& text, const Trace& trace);

/// The same host program in which only launches take time: whatever reads, copies, transfers, maps
/// or thinks is a mere wait for its causes.
Trace launches_only(const Trace& trace);

/// Launches that are not selected end at once and move no counter.
class SelectedLaunches : public LaunchPolicy {
 public:
  /// `warm`: those leave the shared caches as if they had touched their arguments.
  SelectedLaunches(std::set<std::string> ids, MemorySystem& memory, bool warm)
      : ids_(std::move(ids)), memory_(memory), warm_(warm) {}

  bool skips(const GpuLaunch& launch) override;
  void begin(const GpuLaunch&, Ticks) override { ran_ = false; }
  LaunchStep next(Ticks now) override;

 private:
  std::set<std::string> ids_;
  MemorySystem& memory_;
  bool warm_;
  bool ran_ = false;
};

}  // namespace fm
