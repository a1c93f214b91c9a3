#pragma once
// One simulated run of a trace on a device: the function behind fmsim.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/device_config.hpp"
#include "core/result.hpp"
#include "core/trace_file.hpp"
#include "sim/memory/request_port.hpp"
#include "sim/replay/perfect.hpp"

namespace fm {

class RequestTap;

/// How much of a trace is simulated.
enum class Sampling {
  full,      ///< every access
  automatic  ///< what repeats is simulated a few times, then accounted for (docs/sampling.md)
};

struct SimulationOptions {
  Sampling sampling = Sampling::full;
  /// Not empty: only these launches are simulated (sim/sampling/launch_selection.hpp), nothing else
  /// takes time; with `warm` caches know what the launches before them touched.
  std::string launches;
  bool warm = false;
  /// How often the host program runs, one after the other in a process that stays warm
  /// (sim/replay/repetition.hpp); the result is of the last.
  std::uint64_t repetitions = 1;
  std::string trace_file;    ///< copied into the result
  std::string trace_digest;  ///< copied into the result
  /// Counters over time, in intervals of this length; zero: none.
  Picoseconds interval;
  /// Called now and then with the share of launches done, 0 to 1; may be empty.
  std::function<void(double)> on_progress;
  std::set<PerfectPart> perfect;  ///< parts of the device that cost nothing
  /// Sees the requests of a port (sim/memory/memory_level.hpp); may be null.
  RequestTap* tap = nullptr;
  RequestPort tap_port = RequestPort::core_l2;
  /// Called when a launch starts (true) and ends (false); may be empty.
  std::function<void(const std::string& launch, bool starts)> on_launch;
};

/// Replays `trace` on `config` and drains. The result is a function of the two alone, byte for
/// byte. Its checks may not all hold: the caller decides (fmsim exits with 1). Throws UserError: a
/// trace the config cannot run (out of memory as on the phone, a work-group that fits no core);
/// std::logic_error: the simulator deadlocked (who waits for whom).
///
/// May be called any number of times in one process, not concurrently: SystemC's kernel is one
/// global object, so each call runs in a simulation context of its own
/// (sim/replay/kernel_context.hpp).
Result simulate(const DeviceConfig& config, const Trace& trace,
                const SimulationOptions& options = {});

}  // namespace fm
