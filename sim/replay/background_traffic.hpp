#pragma once
// What else uses the memory while the app runs: the display's refresh, and everything in the
// background.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/periodic_work.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// Two clients of the memory of their own, "display" (reads) and "background" (reads and writes in
/// turn): bursts of traffic.*_burst bytes, evenly spaced so that they make traffic.*_bandwidth,
/// each over fresh addresses above those of the app. A burst that is due while the one before it is
/// still under way is dropped and counted as late: a display that runs dry.
class BackgroundTraffic {
 public:
  /// Registers its counters. All arguments outlive it.
  BackgroundTraffic(const DeviceConfig& config, MemorySystem& memory, PeriodicWork& periodic,
                    CounterRegistry& registry);

 private:
  struct Stream {
    MemoryPort* port;
    std::uint64_t base, burst;  // bytes
    bool writes;
    std::uint64_t bursts = 0, late = 0;
  };
  void add(const DeviceConfig& config, const std::string& name, MemoryPort& port, bool writes,
           PeriodicWork& periodic, CounterRegistry& registry);
  static void send(Stream* stream);

  std::uint64_t next_base_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace fm
