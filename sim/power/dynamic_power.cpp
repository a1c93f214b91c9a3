#include "sim/power/dynamic_power.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "sim/replay/agenda.hpp"

namespace fm {
namespace {

Governor governor(const DeviceConfig& config, const char* points, const char* mode,
                  const std::string& thresholds = "governor.") {
  return Governor(config.curve(points), config.word(mode) == "ramp",
                  config.ratio(thresholds + "up_threshold"),
                  config.ratio(thresholds + "down_threshold"));
}

double share(Picoseconds part, Picoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

}  // namespace

DynamicPower::DynamicPower(const DeviceConfig& config, const EnergyModel& model,
                           EnergyLedger& ledger, const CounterRegistry& registry,
                           PeriodicWork& periodic, Hooks hooks)
    : model_(model),
      ledger_(ledger),
      registry_(registry),
      hooks_(std::move(hooks)),
      gpu_interval_(config.time("governor.gpu_interval")),
      dram_interval_(config.time("governor.dram_interval")),
      cpu_interval_(config.time("governor.cpu_interval")),
      burst_bytes_(static_cast<double>(dram_burst(config).count())),
      dram_bandwidth_(dram_peak_bandwidth(config)),
      gpu_(governor(config, "gpu.operating_points", "governor.gpu")),
      dram_(governor(config, "dram.operating_points", "governor.dram", "governor.dram_")),
      cpu_(governor(config, "host.operating_points", "governor.cpu")),
      gpu_speed_(gpu_.speed()),
      gpu_voltage_(gpu_.voltage()),
      throttles_(config.flag("thermal.throttling")),
      limit_(config.celsius("thermal.limit")),
      hysteresis_(config.kelvin("thermal.hysteresis")),
      node_(config),
      heated_(model.counts()) {
  if (gpu_.ramps() || throttles_) periodic.every(gpu_interval_, [this] { look_at_gpu(); });
  if (dram_.ramps()) periodic.every(dram_interval_, [this] { look_at_dram(); });
  if (cpu_.ramps()) periodic.every(cpu_interval_, [this] { look_at_cpu(); });
  if (gpu_.ramps()) hooks_.set_gpu_speed(gpu_speed_);
  if (dram_.ramps()) hooks_.set_dram_speed(dram_.speed());
  if (cpu_.ramps()) hooks_.set_cpu_speed(cpu_.speed(), cpu_.voltage());
  publish_voltages(Picoseconds(0));
}

void DynamicPower::restart(Picoseconds now) {
  heated_ = model_.counts();
  heated_at_ = now;
}

void DynamicPower::before_kernel(Picoseconds now) {
  if (gpu_.speed() == gpu_speed_) return;
  gpu_speed_ = gpu_.speed();
  gpu_voltage_ = gpu_.voltage();
  hooks_.set_gpu_speed(gpu_speed_);
  publish_voltages(now);
}

void DynamicPower::look_at_gpu() {
  const Picoseconds now = Agenda::now();
  gpu_.observe(share(gpu_busy_.take(now), gpu_interval_));
  heat(now);
}

void DynamicPower::look_at_dram() {
  const double bytes = dram_bytes();
  if (bytes < dram_bytes_) dram_bytes_ = 0;  // counted anew: another repetition began
  const double possible =
      dram_bandwidth_ * dram_.speed() * static_cast<double>(dram_interval_.count()) * 1e-12;
  dram_.observe((bytes - dram_bytes_) / possible);
  dram_bytes_ = bytes;
  hooks_.set_dram_speed(dram_.speed());
  publish_voltages(Agenda::now());
}

void DynamicPower::look_at_cpu() {
  cpu_.observe(share(hooks_.take_cpu_busy(), cpu_interval_));
  hooks_.set_cpu_speed(cpu_.speed(), cpu_.voltage());
}

/// By the power since the last look.
void DynamicPower::heat(Picoseconds now) {
  const EventCounts counts = model_.counts();
  EventCounts moved(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) moved[i] = counts[i] - heated_[i];
  const Picoseconds time = now - heated_at_;
  const EnergyByComponent energy = model_.energy(moved, time, ledger_.voltages());
  const double femtojoules =
      static_cast<double>(std::accumulate(energy.begin(), energy.end(), Femtojoules{0}));
  const double milliwatts = femtojoules / static_cast<double>(time.count());
  node_.heat(milliwatts * 1e-3, time);
  heated_ = counts;
  heated_at_ = now;
  if (throttles_) limit();
  samples_.push_back({to_nanoseconds(now), gpu_.speed(), dram_.speed(), cpu_.speed(), milliwatts,
                      node_.celsius()});
}

/// One point lower while too hot, one higher once cool enough.
void DynamicPower::limit() {
  if (node_.celsius() > limit_) {
    gpu_.allow(gpu_.allowed() - 1);
  } else if (node_.celsius() < limit_ - hysteresis_) {
    gpu_.allow(gpu_.allowed() + 1);
  }
}

void DynamicPower::publish_voltages(Picoseconds now) {
  ledger_.set_voltages({gpu_voltage_, dram_.voltage(), 1}, now);
}

double DynamicPower::dram_bytes() const {
  return static_cast<double>(registry_.value("dram.read_bursts") +
                             registry_.value("dram.write_bursts")) *
         burst_bytes_;
}

}  // namespace fm
