#pragma once
// Whose energy it was: the run is cut at every start and end of a launch or copy, and each piece
// belongs to one of them or to none.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "sim/power/energy_model.hpp"

namespace fm {

/// A kernel owns everything between its start and end, what runs beside it included (one kernel
/// runs at a time); a copy what is left of its time, the earliest of several; nobody the rest.
class EnergyLedger {
 public:
  /// `model` outlives it.
  explicit EnergyLedger(const EnergyModel& model);

  /// Times ascend over all calls. A kernel's counters are its report's, so that a report made
  /// without simulating it counts like one made by it. The ends return the launch's energy.
  void kernel_started(Picoseconds now);
  EnergyByComponent kernel_ended(const std::map<std::string, double>& moved, Picoseconds now);
  void copy_started(std::uint64_t operation, Picoseconds now);
  EnergyByComponent copy_ended(std::uint64_t operation, Picoseconds now);
  /// The voltages from now on or, while a kernel runs, from its end: a kernel is booked at one.
  void set_voltages(const VoltageRatios& voltages, Picoseconds now);
  const VoltageRatios& voltages() const { return voltages_; }
  /// Another run begins, nothing is running; the counters were set back.
  void restart(Picoseconds now);
  /// The run's last moment.
  void finish(Picoseconds end);

  /// Of the run until the last call.
  const EnergyByComponent& total() const { return total_; }
  ResultEnergy result(Picoseconds time) const;
  /// For the result: in nanojoules, with the mean power over `time`.
  ResultEnergy result_of(const EnergyByComponent& energy, Picoseconds time) const;
  void append_checks(std::vector<ResultCheck>* checks) const;

 private:
  struct Copy {
    std::uint64_t operation;
    EnergyByComponent energy;
  };
  void settle(Picoseconds now);

  const EnergyModel& model_;
  VoltageRatios voltages_ = nominal_voltages, next_voltages_ = nominal_voltages;
  bool in_kernel_ = false;
  EventCounts last_;
  Picoseconds since_;
  std::vector<Copy> copies_;  ///< running, in order of start
  EnergyByComponent total_, outside_;
  Femtojoules of_launches_ = 0;  ///< handed out by the ends
};

/// Component by component; `sum` grows to the size of `energy`.
void add(EnergyByComponent* sum, const EnergyByComponent& energy);

}  // namespace fm
