#pragma once
// The mobile GPU: command processor, work-group dispatcher and shader cores in front of the memory
// system.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "core/result.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/wave_cursor.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

class CommandProcessor;
class LaunchAccounts;
class LaunchPolicy;
class ShaderCore;

/// What one kernel argument points to.
struct ArgumentBinding {
  std::uint32_t argument = 0;  ///< kernel argument index (CompiledSite::argument)
  Address
      address;  ///< of the first byte; images: of the object (ImageLayout says where a texel lies)
  bool image = false;
  std::uint32_t width = 0, height = 0;  ///< images, texels
  std::uint32_t texel_bytes = 0;
};

/// What the GPU did during one launch. Times are simulation time.
struct GpuLaunchReport {
  Picoseconds queued, start,
      end;  ///< start: the command processor begins with it (its launch overhead included)
  bool skipped = false;  ///< took no time and moved no counter (LaunchPolicy::skips)
  std::string bound;     ///< dram | l2 | load_store | texture | alu | launch | latency | local, or
                         ///< measured: GpuLaunch::measured
  std::uint32_t resident_waves = 0;  ///< of a core at a time, at most
  std::string occupancy_limit;  ///< wave_slots | registers | local_memory | work_groups | launch
  std::map<std::string, double>
      stalls;  ///< fraction of issue slots by cause, busy and idle too; sums to 1
  std::map<std::string, double>
      counters;  ///< what every registered counter moved by (only those that moved)
};

/// Bytes one kernel argument reads or writes: `segments` of `bytes`, `pitch` apart.
struct TouchedRange {
  Address tensor;  ///< first byte of the argument's tensor
  Address address;
  Bytes bytes;
  bool write = false;
  bool image = false;
  std::uint64_t segments = 1;
  Bytes pitch;
};

struct GpuLaunch {
  std::string id;
  /// Set: nobody described what it does; it takes so long, overhead included, and moves no counter
  /// of the cores.
  std::optional<Picoseconds> measured;
  const CompiledProgram* program =
      nullptr;                       ///< compiled for Gpu::wave_width(); both outlive on_end
  PatternTable* patterns = nullptr;  ///< may be shared between launches of one program
  std::uint32_t registers = 0;       ///< 32-bit registers a work-item
  bool half_arithmetic = false;      ///< FMA, ADD and SPECIAL run at the half-precision rate
  std::vector<ArgumentBinding>
      arguments;  ///< one for every argument a GLOBAL, IMAGE or CONSTANT site names
  std::vector<TouchedRange> touched;   ///< what it reads and writes; only sampling asks
  std::function<void()> before_start;  ///< just before, nothing running: the clock may change
  std::function<void()> on_start;      ///< at report.start; may be empty
  std::function<void(const GpuLaunchReport&)>
      on_end;  ///< at report.end, all its traffic answered; may be empty
};

/// Launches run one at a time in the order they were enqueued (the queues of one device share its
/// command processor). Texture and load/store caches of the cores are cleaned and invalidated
/// between launches.
class Gpu {
 public:
  /// Registers its counters. All arguments outlive it.
  /// `perfect_texture`: every texel hits the texture caches, at any rate.
  Gpu(const DeviceConfig& config, MemorySystem& memory, CounterRegistry& registry,
      bool perfect_texture = false);
  ~Gpu();

  /// Lanes of a wave: what programs are to be compiled for.
  std::uint32_t wave_width() const;
  /// At the current simulation time. Throws UserError when a work-group fits no core (local memory,
  /// waves) or an argument is not bound.
  void enqueue(GpuLaunch launch);
  /// Asks `policy`, which outlives it, what to simulate of each launch; without one all of it.
  void follow(LaunchPolicy& policy);
  bool idle() const;
  /// What is still running and waits for whom; empty when idle.
  std::vector<Wait> waits() const;

  /// The time the arithmetic issued so far takes at peak rate and gpu.clock on all cores.
  Picoseconds compute_floor() const;
  /// Conservation laws of issue slots, L1 caches and core links at the end of a run (the memory
  /// system has its own).
  void append_checks(std::vector<ResultCheck>* checks) const;

 private:
  MemorySystem& memory_;
  std::vector<std::unique_ptr<ShaderCore>> cores_;
  std::unique_ptr<LaunchAccounts> accounts_;
  std::unique_ptr<CommandProcessor> command_processor_;
};

}  // namespace fm
