#pragma once
// What one event costs: the config's energies, tied to the counters that count the events.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/device_config.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// Parts of the phone with a voltage of their own. Fixed: storage, and the CPU, whose events are
/// counted by the energy they take (host.active_time).
enum class PowerDomain : std::uint8_t { gpu, memory, fixed };
constexpr std::size_t power_domain_count = 3;

/// Voltage of each domain over that of its fastest operating point: what its energies are given
/// for. Energy of an event goes with its square, static power with itself.
using VoltageRatios = std::array<double, power_domain_count>;
constexpr VoltageRatios nominal_voltages{1, 1, 1};

/// Energy in femtojoules: whole numbers, so that sums agree whatever their order.
using Femtojoules = std::uint64_t;
using EnergyByComponent = std::vector<Femtojoules>;  ///< in the order of EnergyModel::components()

/// What each counter moved by, in the order of EnergyModel::counters().
using EventCounts = std::vector<double>;

class EnergyModel {
 public:
  /// `half_arithmetic`: FMAs and additions are of half operands. Throws std::logic_error when a
  /// counter it needs is not registered.
  EnergyModel(const DeviceConfig& config, const CounterRegistry& registry, bool half_arithmetic);

  /// Names: "alu_fma", "alu_add", "alu_special", "alu_convert", "alu_integer", "load_store_read",
  /// "..._write", "local", "texture_read", "..._write", "noc", "l2_...", "slc_...",
  /// "dram_activate", "dram_read", "dram_write", "dram_refresh", "storage", "cpu", "static_gpu",
  /// "static_memory", "static_cpu", "static_storage". A cache's writes include the lines fetched
  /// into it.
  const std::vector<std::string>& components() const { return components_; }
  /// Values of the counters now.
  EventCounts counts() const;
  /// From a launch's counters by name; those missing did not move.
  EventCounts counts(const std::map<std::string, double>& moved) const;
  EnergyByComponent energy(const EventCounts& moved, Picoseconds elapsed,
                           const VoltageRatios& voltages) const;

 private:
  struct Term {
    std::size_t component;
    double femtojoules;  ///< an event
    PowerDomain domain;
  };
  struct Static {
    std::size_t component;
    double femtojoules;  ///< a picosecond
    PowerDomain domain;
  };
  std::size_t component(const std::string& name);
  void event(const std::string& component, const std::string& counter, double picojoules,
             PowerDomain domain);
  void gpu_events(const DeviceConfig& config, bool half_arithmetic);
  void memory_events(const DeviceConfig& config);
  void background(const std::string& component, double milliwatts, PowerDomain domain);

  const CounterRegistry& registry_;
  std::vector<std::string> components_;
  std::vector<Term> terms_;
  std::vector<const CounterEntry*> counters_;  ///< by term
  std::vector<Static> statics_;
};

}  // namespace fm
