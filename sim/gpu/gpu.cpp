#include "sim/gpu/gpu.hpp"

#include <algorithm>

#include "sim/gpu/command_processor.hpp"
#include "sim/gpu/core_accounts.hpp"
#include "sim/memory/cache_level.hpp"

namespace fm {

Gpu::Gpu(const DeviceConfig& config, MemorySystem& memory, CounterRegistry& registry,
         bool perfect_texture)
    : memory_(memory) {
  CoreParameters parameters = core_parameters(config);
  parameters.texture.perfect = perfect_texture;
  accounts_ = std::make_unique<LaunchAccounts>(memory, registry, cores_);
  command_processor_ = std::make_unique<CommandProcessor>(
      "command_processor", memory.clock(), parameters, config.time("host.launch_overhead").count(),
      accounts_.get());
  const std::uint64_t cores = config.count("gpu.cores");
  for (std::uint32_t i = 0; i < cores; ++i) {
    const std::string name = "core" + std::to_string(i);
    cores_.push_back(std::make_unique<ShaderCore>(name.c_str(), memory.clock(), parameters, i,
                                                  &memory.core_level(i), &memory.mmu(),
                                                  command_processor_.get()));
    register_counters(*cores_.back(), registry);
  }
  command_processor_->connect(cores_);
  registry.add("gpu.launches", "launches", "Launches completed",
               &command_processor_->launches_done());
  registry.add("gpu.launch_overhead", "ps", "Time before the first work-group of each launch",
               &command_processor_->overhead_ticks());
  registry.add("gpu.measured_launches", "launches",
               "Launches that no access program describes: they took their recorded time",
               &command_processor_->measured_launches());
  registry.add("gpu.measured_time", "ps", "Time of those launches",
               &command_processor_->measured_ticks());
}

Gpu::~Gpu() = default;

std::uint32_t Gpu::wave_width() const { return cores_.front()->parameters().wave_width; }

void Gpu::enqueue(GpuLaunch launch) {
  launch.on_start = [this, on_start = std::move(launch.on_start)] {
    memory_.begin_launch();
    if (on_start) on_start();
  };
  command_processor_->enqueue(std::move(launch));
}

void Gpu::follow(LaunchPolicy& policy) { command_processor_->follow(policy); }

bool Gpu::idle() const {
  return command_processor_->idle() &&
         std::all_of(cores_.begin(), cores_.end(), [](const auto& core) { return core->idle(); });
}

std::vector<Wait> Gpu::waits() const {
  std::vector<Wait> waits;
  command_processor_->append_waits(&waits);
  for (const auto& core : cores_) core->append_waits(&waits);
  return waits;
}

Picoseconds Gpu::compute_floor() const {
  std::uint64_t cycles = 0;
  for (const auto& core : cores_) {
    for (const std::uint64_t part : core->counts().arithmetic_cycles) cycles += part;
  }
  const std::uint64_t engines = cores_.size() * cores_.front()->parameters().engines;
  return Picoseconds(ceil_div(cycles, engines) * memory_.clock().period);
}

void Gpu::append_checks(std::vector<ResultCheck>* checks) const {
  append_core_checks(cores_, memory_.core_traffic(), memory_.mmu(), checks);
}

}  // namespace fm
