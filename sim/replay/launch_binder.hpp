#pragma once
// From a launch of the trace to a launch of the simulated GPU: compiled program, registers,
// addresses.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/trace_file.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/replay/device_heap.hpp"
#include "sim/sampling/footprint.hpp"

namespace fm {

/// How long a launch without an access program takes: as long as on the device it was recorded on
/// or, where that is not known, host.launch_overhead.
Picoseconds measured_time(const trace::Launch& launch, const DeviceConfig& config);

class LaunchBinder {
 public:
  /// All arguments outlive it.
  LaunchBinder(const DeviceConfig& config, const Trace& trace, std::uint32_t wave_width,
               bool half_arithmetic, const DeviceHeap& heap, const std::optional<Plan>& plan);

  /// Registers are the trace's for gpu.isa and, when the plan has the launch transform streamed
  /// weights while the trace counted the plain kernel, gpu.streaming_registers more (a trace that
  /// counted the streaming kernel says "streaming" in registers_source). Throws UserError: no
  /// registers for the config's instruction set, objects that are not there.
  GpuLaunch bind(const trace::Launch& launch);

 private:
  struct Compiled {
    CompiledProgram program;
    PatternTable patterns;
    std::vector<ArgumentFootprint> footprint;
  };
  /// Program and the contents of its index buffers: different contents make a different program.
  using Key = std::pair<std::uint32_t, std::vector<std::size_t>>;
  /// Objects of its arguments must be there.
  GpuLaunch bind_measured(const trace::Launch& launch) const;
  Compiled& compile(const trace::Launch& launch);
  const trace::AccessProgram& program(std::uint32_t id) const;
  /// Of a work-item, for the config's instruction set.
  std::uint32_t registers_of(const trace::Launch& launch, const trace::AccessProgram& source) const;

  const DeviceConfig& config_;
  const Trace& trace_;
  std::uint32_t wave_width_;
  bool half_arithmetic_;
  const DeviceHeap& heap_;
  std::set<std::string> streaming_;  ///< launches that transform chunks of streamed weights
  std::map<std::uint32_t, const trace::AccessProgram*> programs_;
  std::map<Key, std::unique_ptr<Compiled>> compiled_;
};

}  // namespace fm
