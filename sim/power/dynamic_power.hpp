#pragma once
// Clocks that change during a run: governors of GPU, DRAM and CPU, and the temperature that bounds
// the GPU's.

#include <functional>
#include <vector>

#include "core/result.hpp"
#include "sim/power/energy_ledger.hpp"
#include "sim/power/governor.hpp"
#include "sim/power/thermal.hpp"
#include "sim/replay/periodic_work.hpp"

namespace fm {

/// With all governors fixed and no thermal.throttling nothing ever changes and nothing is asked.
/// Else each part's governor looks at the last governor.*_interval. DRAM and CPU change at once;
/// the GPU's clock and voltage change only where no kernel runs, at the start of the next one: a
/// kernel runs at one operating point. Voltages of the ledger follow at the next start or end of a
/// kernel or copy. CPU energy is for the work done: host threads take longer at a lower clock, and
/// their energy a picosecond falls with voltage squared and clock.
class DynamicPower {
 public:
  /// What it reads and turns. May all be empty.
  struct Hooks {
    std::function<Picoseconds()> take_cpu_busy;         ///< since the last call
    std::function<void(double, double)> set_cpu_speed;  ///< share of the fastest clock, voltage
    std::function<void(double)> set_dram_speed;         ///< the same share
    std::function<void(double)> set_gpu_speed;          ///< the same share; no kernel runs
  };
  /// All arguments outlive it.
  DynamicPower(const DeviceConfig& config, const EnergyModel& model, EnergyLedger& ledger,
               const CounterRegistry& registry, PeriodicWork& periodic, Hooks hooks);

  /// A kernel or copy keeps the GPU busy.
  void command_started(Picoseconds now) { gpu_busy_.begin(now); }
  void command_ended(Picoseconds now) { gpu_busy_.end(now); }
  /// Another run begins, nothing is running; the counters were set back. Clocks and temperature
  /// stay.
  void restart(Picoseconds now);
  /// Right before a kernel begins, none running: changes clock and voltage if the governor says so.
  void before_kernel(Picoseconds now);

  double gpu_speed() const { return gpu_speed_; }
  const std::vector<PowerSample>& samples() const { return samples_; }

 private:
  void look_at_gpu();
  void look_at_dram();
  void look_at_cpu();
  void heat(Picoseconds now);
  void limit();
  void publish_voltages(Picoseconds now);
  double dram_bytes() const;

  const EnergyModel& model_;
  EnergyLedger& ledger_;
  const CounterRegistry& registry_;
  const Hooks hooks_;
  const Picoseconds gpu_interval_, dram_interval_, cpu_interval_;
  const double burst_bytes_, dram_bandwidth_;
  Governor gpu_, dram_, cpu_;
  BusyTime gpu_busy_;
  double gpu_speed_, gpu_voltage_;
  double dram_bytes_ = 0;
  const bool throttles_;
  const double limit_, hysteresis_;
  ThermalNode node_;
  EventCounts heated_;  ///< counters at the last heat()
  Picoseconds heated_at_;
  std::vector<PowerSample> samples_;
};

}  // namespace fm
