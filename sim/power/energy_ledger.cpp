#include "sim/power/energy_ledger.hpp"

#include <algorithm>
#include <numeric>

namespace fm {
namespace {

constexpr double femtojoules_per_nanojoule = 1e6;

Femtojoules sum_of(const EnergyByComponent& energy) {
  return std::accumulate(energy.begin(), energy.end(), Femtojoules{0});
}

}  // namespace

void add(EnergyByComponent* sum, const EnergyByComponent& energy) {
  if (sum->size() < energy.size()) sum->resize(energy.size());
  for (std::size_t i = 0; i < energy.size(); ++i) (*sum)[i] += energy[i];
}

EnergyLedger::EnergyLedger(const EnergyModel& model)
    : model_(model),
      last_(model.counts()),
      total_(model.components().size()),
      outside_(model.components().size()) {}

void EnergyLedger::kernel_started(Picoseconds now) {
  settle(now);
  in_kernel_ = true;
}

EnergyByComponent EnergyLedger::kernel_ended(const std::map<std::string, double>& moved,
                                             Picoseconds now) {
  EnergyByComponent energy = model_.energy(model_.counts(moved), now - since_, voltages_);
  add(&total_, energy);
  of_launches_ += sum_of(energy);
  last_ = model_.counts();
  since_ = now;
  in_kernel_ = false;
  voltages_ = next_voltages_;
  return energy;
}

void EnergyLedger::copy_started(std::uint64_t operation, Picoseconds now) {
  if (!in_kernel_) settle(now);
  copies_.push_back({operation, EnergyByComponent(model_.components().size())});
}

EnergyByComponent EnergyLedger::copy_ended(std::uint64_t operation, Picoseconds now) {
  if (!in_kernel_) settle(now);
  const auto copy = std::find_if(copies_.begin(), copies_.end(), [&](const Copy& running) {
    return running.operation == operation;
  });
  EnergyByComponent energy = std::move(copy->energy);
  copies_.erase(copy);
  of_launches_ += sum_of(energy);
  return energy;
}

void EnergyLedger::set_voltages(const VoltageRatios& voltages, Picoseconds now) {
  next_voltages_ = voltages;
  if (in_kernel_) return;
  settle(now);
  voltages_ = voltages;
}

void EnergyLedger::restart(Picoseconds now) {
  last_ = model_.counts();
  since_ = now;
  total_.assign(model_.components().size(), 0);
  outside_ = total_;
  of_launches_ = 0;
}

void EnergyLedger::finish(Picoseconds end) { settle(std::max(end, since_)); }

void EnergyLedger::settle(Picoseconds now) {
  const EventCounts counts = model_.counts();
  EventCounts moved(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) moved[i] = counts[i] - last_[i];
  const EnergyByComponent energy = model_.energy(moved, now - since_, voltages_);
  add(&total_, energy);
  add(copies_.empty() ? &outside_ : &copies_.front().energy, energy);
  last_ = counts;
  since_ = now;
}

ResultEnergy EnergyLedger::result_of(const EnergyByComponent& energy, Picoseconds time) const {
  ResultEnergy result;
  for (std::size_t i = 0; i < energy.size(); ++i) {
    result.by_component[model_.components()[i]] =
        static_cast<double>(energy[i]) / femtojoules_per_nanojoule;
  }
  const auto all = static_cast<double>(sum_of(energy));
  result.total_nj = all / femtojoules_per_nanojoule;
  // fJ / ps = mW.
  if (time.count() > 0) result.average_power_mw = all / static_cast<double>(time.count());
  return result;
}

ResultEnergy EnergyLedger::result(Picoseconds time) const {
  ResultEnergy result = result_of(total_, time);
  result.outside_launches_nj = static_cast<double>(sum_of(outside_)) / femtojoules_per_nanojoule;
  return result;
}

void EnergyLedger::append_checks(std::vector<ResultCheck>* checks) const {
  checks->push_back({"energy: fJ of all components = of all launches + outside of them",
                     static_cast<double>(sum_of(total_)),
                     static_cast<double>(of_launches_ + sum_of(outside_))});
}

}  // namespace fm
