#pragma once
// Copies into images, or between buffers, as the GPU's copy engine (or the driver's copy kernel)
// makes them.

#include <cstdint>
#include <deque>
#include <functional>

#include "core/device_config.hpp"
#include "sim/memory/memory_port.hpp"
#include "sim/replay/agenda.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// A range to read and the range its texels land in (with the padding of tiles or rows). A fill
/// reads nothing.
struct CopyJob {
  Address source;
  Bytes source_bytes;
  Address destination;
  Bytes destination_bytes;
};

/// One copy at a time, in order: host.launch_overhead, then pieces read and written through the
/// memory port, a few in flight, at no more than host.copy_bandwidth.
class CopyEngine {
 public:
  /// Registers its counters. All arguments outlive it.
  CopyEngine(const DeviceConfig& config, MemoryPort& port, Agenda& agenda,
             CounterRegistry& registry);

  /// `start` runs when the engine takes it up, `done` when its last byte is written.
  void copy(const CopyJob& job, std::function<void()> start, std::function<void()> done);
  bool idle() const { return jobs_.empty(); }
  void append_waits(std::vector<Wait>* waits) const;

 private:
  struct Job {
    CopyJob job;
    std::function<void()> start, done;
    std::uint64_t pieces = 0;    // in total
    std::uint64_t issued = 0;    // pieces whose read was submitted
    std::uint64_t finished = 0;  // pieces written
    bool rate_limited = false;   // the engine's own rate holds the next piece back
  };
  void begin();
  void progress();
  void finish();

  Picoseconds overhead_;
  double bytes_per_second_;
  MemoryPort& port_;
  Agenda& agenda_;
  std::deque<Job> jobs_;
  std::uint64_t copies_ = 0, read_bytes_ = 0, written_bytes_ = 0;
};

}  // namespace fm
