#pragma once
// Everything below the shader cores: cluster caches, L2 slices, address translation, system-level
// cache, DRAM channels, and the ports into them.

#include <memory>
#include <vector>

#include "core/device_config.hpp"
#include "core/result.hpp"
#include "sim/memory/block.hpp"
#include "sim/memory/memory_port.hpp"
#include "sim/memory/request_port.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

class CacheLevel;
class DramSystem;
class Mmu;
struct MemoryParameters;

class MemorySystem {
 public:
  /// Registers its counters. Both arguments outlive it. Throws UserError for contradictions between
  /// config keys.
  MemorySystem(const DeviceConfig& config, CounterRegistry& registry);
  MemorySystem(const MemoryParameters& parameters, CounterRegistry& registry);
  ~MemorySystem();

  /// The port of `client`: copy_engine, storage, host or display. Shader cores have their own
  /// links.
  MemoryPort& port(MemoryClient client);

  /// Cache maintenance over a range, as at a map or unmap: lines leave the GPU's L2, dirty ones are
  /// written back below. The system-level cache keeps them: CPU, GPU and DMA all see memory through
  /// it, and maintenance ends at that point of coherency (Arm ARM DDI 0487, D7.5; Linux
  /// Documentation/devicetree/bindings/cache/qcom,llcc.yaml: one cache shared by the SoC's
  /// clients). Takes effect one link latency later (its cost to the host is the caller's to add).
  void invalidate(Address address, Bytes bytes);

  /// Leaves the caches as if `client` had read or written the range, line by line, since now:
  /// without time, uncounted. For work that sampling does not simulate.
  void touch(Address address, Bytes bytes, MemoryClient client, bool write);
  /// What the shared caches hold now, and what they still hold of it at a later time without
  /// having used it since.
  void mark_uses();
  Bytes bytes_unused_since_mark() const;
  /// Bytes that other clients than shader cores have moved or asked to move so far.
  std::uint64_t port_bytes() const;

  const Clock& clock() const { return clock_; }
  /// From now on; not below the period it was built with, and only while no shader core is at work.
  /// What is in flight keeps its times; latencies and widths given in GPU cycles (L2, the way to
  /// it) follow, those given in time (system-level cache, DRAM) do not.
  void change_gpu_period(Ticks period);
  /// Share of dram.data_rate that the channels run at from now on; timings given in time stay.
  void set_dram_speed(double speed);
  CacheLevel& l2() { return *l2_; }
  /// Of all shared levels together.
  std::uint64_t cache_bytes() const;
  const CacheLevel& l2() const { return *l2_; }
  /// What core number `core` asks first: its cluster's cache, or the L2.
  CacheLevel& core_level(std::uint32_t core);
  /// Over all edges between cores and core_level().
  TrafficCounts core_traffic() const;
  Mmu& mmu() { return *mmu_; }
  const Mmu& mmu() const { return *mmu_; }
  /// Cluster caches are not coherent with each other: they forget what they hold between launches,
  /// as texture caches do.
  void begin_launch();
  /// Nothing in flight.
  bool idle() const;
  /// What is still in flight and waits for whom; empty when idle.
  std::vector<Wait> waits() const;
  /// Bytes over all DRAM channels per second, at peak.
  double peak_dram_bytes_per_second() const;
  /// Bytes the DRAM channels moved so far, all clients.
  std::uint64_t dram_bytes() const;
  /// From now on `tap`, which outlives this, sees the requests of a port. Throws UserError:
  /// core_cluster of a device without cluster caches.
  void watch(RequestPort port, RequestTap* tap);
  /// Read latencies at each level, by client; clients without reads are left out.
  std::vector<ResultHistogram> latency_histograms() const;
  /// Conservation laws of caches, edges and DRAM at the end of a run.
  void append_checks(std::vector<ResultCheck>* checks) const;

 private:
  const Clock clock_;
  const Ticks maintenance_latency_;
  const Ticks to_l2_;            ///< one way to the L2, at the fastest clock
  const Ticks cluster_latency_;  ///< one way between a core and its cluster's cache
  const std::uint32_t cluster_cores_;
  std::unique_ptr<DramSystem> dram_;
  std::unique_ptr<CacheLevel> slc_;
  std::unique_ptr<CacheLevel> l2_;
  std::vector<std::unique_ptr<CacheLevel>> clusters_;
  std::unique_ptr<Mmu> mmu_;
  std::vector<std::unique_ptr<MemoryPort>> ports_;
};

}  // namespace fm
