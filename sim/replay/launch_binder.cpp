#include "sim/replay/launch_binder.hpp"

#include "core/diagnostics.hpp"

namespace fm {

LaunchBinder::LaunchBinder(const DeviceConfig& config, const Trace& trace, std::uint32_t wave_width,
                           bool half_arithmetic, const DeviceHeap& heap,
                           const std::optional<Plan>& plan)
    : config_(config),
      trace_(trace),
      wave_width_(wave_width),
      half_arithmetic_(half_arithmetic),
      heap_(heap) {
  for (const auto& program : trace.programs) programs_[program.id()] = &program;
  if (!plan) return;
  std::set<std::string> kernels;
  for (const PlanLaunch& launch : plan->launches) {
    if (launch.kind == LaunchKind::kernel) kernels.insert(launch.id);
  }
  for (const WeightSlice& slice : plan->weights) {
    for (const WeightTransform& transform : slice.transforms) {
      if (kernels.count(transform.launch) != 0) streaming_.insert(transform.launch);
    }
  }
}

const trace::AccessProgram& LaunchBinder::program(std::uint32_t id) const {
  const auto found = programs_.find(id);
  if (found != programs_.end()) return *found->second;
  throw UserError("the trace has no access program " + std::to_string(id));
}

std::uint32_t LaunchBinder::registers_of(const trace::Launch& launch,
                                         const trace::AccessProgram& source) const {
  const std::string& isa = config_.word("gpu.isa");
  auto found = source.registers().find(isa);
  // Both Malis give a work-item 32 registers or 64: a trace without the older one's count may use
  // the newer one's.
  if (found == source.registers().end() && isa == "bifrost") {
    found = source.registers().find("valhall");
  }
  if (found == source.registers().end()) {
    throw UserError("kernel " + source.kernel() + ": the trace has no register count for `" + isa +
                    "`, the instruction set of " + config_.name() + " (gpu.isa)");
  }
  const bool plain_count = source.registers_source().find("streaming") == std::string::npos;
  if (streaming_.count(launch.launch()) == 0 || !plain_count) return found->second;
  return found->second + static_cast<std::uint32_t>(config_.count("gpu.streaming_registers"));
}

GpuLaunch LaunchBinder::bind_measured(const trace::Launch& launch) const {
  GpuLaunch bound;
  bound.id = launch.launch();
  bound.measured = measured_time(launch, config_);
  for (const auto& argument : launch.arguments()) heap_.at(argument.object());
  return bound;
}

Picoseconds measured_time(const trace::Launch& launch, const DeviceConfig& config) {
  if (!launch.kernel().timed()) return config.time("host.launch_overhead");
  return to_picoseconds(Nanoseconds(launch.kernel().duration_ns()));
}

GpuLaunch LaunchBinder::bind(const trace::Launch& launch) {
  if (launch.program() == 0) return bind_measured(launch);
  const std::uint32_t registers = registers_of(launch, program(launch.program()));
  Compiled& compiled = compile(launch);
  GpuLaunch bound;
  bound.id = launch.launch();
  bound.program = &compiled.program;
  bound.patterns = &compiled.patterns;
  bound.registers = registers;
  bound.half_arithmetic = half_arithmetic_;
  for (const auto& argument : launch.arguments()) {
    const HeapObject& object = heap_.at(argument.object());
    ArgumentBinding binding;
    binding.argument = argument.index();
    binding.address = object.address + Bytes(argument.offset());
    binding.image = object.image;
    if (object.image) {
      binding.width = object.layout.width();
      binding.height = object.layout.height();
      binding.texel_bytes = object.layout.texel_bytes();
    }
    bound.arguments.push_back(binding);
    for (const ArgumentFootprint& part : compiled.footprint) {
      if (part.argument != argument.index()) continue;
      bound.touched.push_back(object.image ? touched_range(part, object.address, object.layout)
                                           : touched_range(part, object.address, object.allocated,
                                                           Bytes(argument.offset())));
    }
  }
  return bound;
}

LaunchBinder::Compiled& LaunchBinder::compile(const trace::Launch& launch) {
  const trace::AccessProgram& source = program(launch.program());
  Key key{launch.program(), {}};
  IndexValues index;
  for (std::size_t i = 0; i < trace_.index_contents.size(); ++i) {
    const trace::IndexContents& contents = trace_.index_contents[i];
    if (contents.program() != launch.program() ||
        contents.site() >= static_cast<std::uint32_t>(source.sites_size())) {
      continue;
    }
    const std::uint32_t argument = source.sites(static_cast<int>(contents.site())).argument();
    for (const auto& given : launch.arguments()) {
      if (given.index() != argument || given.object() != contents.object()) continue;
      key.second.push_back(i);
      index[contents.site()].assign(contents.values().begin(), contents.values().end());
    }
  }
  auto& slot = compiled_[key];
  if (!slot) {
    slot.reset(new Compiled{CompiledProgram(source, index, wave_width_), PatternTable(),
                            footprint_of(source)});
  }
  return *slot;
}

}  // namespace fm
