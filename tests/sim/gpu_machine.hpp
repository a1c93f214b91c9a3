#pragma once
// A GPU and its memory without a host program: runs launches one after another until everything
// drained.

#include <deque>
#include <string>
#include <vector>

#include "sim/gpu/gpu.hpp"
#include "sim/memory/memory_parameters.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/kernel_context.hpp"
#include "tests/sim/program_builder.hpp"

namespace fm::test {

inline ArgumentBinding buffer(std::uint32_t argument, std::uint64_t address) {
  ArgumentBinding binding;
  binding.argument = argument;
  binding.address = Address(address);
  return binding;
}

inline ArgumentBinding image(std::uint32_t argument, std::uint64_t address, std::uint32_t width,
                             std::uint32_t height, std::uint32_t texel_bytes) {
  ArgumentBinding binding = buffer(argument, address);
  binding.image = true;
  binding.width = width;
  binding.height = height;
  binding.texel_bytes = texel_bytes;
  return binding;
}

class GpuMachine {
 public:
  explicit GpuMachine(const DeviceConfig& config)
      : memory_(config, registry_), gpu_(config, memory_, registry_) {}
  GpuMachine(const DeviceConfig& config, const MemoryParameters& memory,
             bool perfect_texture = false)
      : memory_(memory, registry_), gpu_(config, memory_, registry_, perfect_texture) {}

  /// Enqueues now a launch of `program`.
  void add(const trace::AccessProgram& program, std::vector<ArgumentBinding> arguments,
           std::uint32_t registers = 32, bool half = false, const IndexValues& index = {}) {
    programs_.emplace_back(program, index, gpu_.wave_width());
    patterns_.emplace_back();
    GpuLaunch launch;
    launch.id = "L" + std::to_string(programs_.size());
    launch.program = &programs_.back();
    launch.patterns = &patterns_.back();
    launch.registers = registers;
    launch.half_arithmetic = half;
    launch.arguments = std::move(arguments);
    launch.on_end = [this](const GpuLaunchReport& report) { reports_.push_back(report); };
    gpu_.enqueue(std::move(launch));
  }

  void run() { context_.run(); }

  const std::vector<GpuLaunchReport>& reports() const { return reports_; }
  std::uint64_t counter(const std::string& name) const { return registry_.value(name); }
  const CounterRegistry& registry() const { return registry_; }
  MemorySystem& memory() { return memory_; }
  Gpu& gpu() { return gpu_; }
  std::vector<ResultCheck> checks() const {
    std::vector<ResultCheck> checks;
    gpu_.append_checks(&checks);
    memory_.append_checks(&checks);
    return checks;
  }
  /// Laws that do not hold, and what is still waiting; empty when all is well.
  std::vector<std::string> faults() const {
    std::vector<Wait> waits = gpu_.waits();
    for (const Wait& wait : memory_.waits()) waits.push_back(wait);
    std::vector<std::string> faults;
    if (!waits.empty()) faults.push_back(wait_report(waits));
    for (const ResultCheck& check : checks()) {
      if (!check.holds()) {
        faults.push_back(check.law + ": " + std::to_string(check.left) +
                         " != " + std::to_string(check.right));
      }
    }
    return faults;
  }

 private:
  KernelContext context_;
  CounterRegistry registry_;
  MemorySystem memory_;
  Gpu gpu_;
  std::deque<CompiledProgram> programs_;
  std::deque<PatternTable> patterns_;
  std::vector<GpuLaunchReport> reports_;
};

/// C[m, n] = A[m, k] B[k, n] with 2.5D images of RGBA16F: a work-item computes 4 rows x 4 columns,
/// 8 texel loads and 64 FMAs a step of 4 along k. Arguments: 0 A, 1 B, 2 C.
inline trace::AccessProgram gemm_program(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  using trace::GROUP_X, trace::GROUP_Y, trace::LOCAL_X, trace::LOCAL_Y, trace::LOOP;
  trace::AccessProgram program = empty_program({16, 4, 1}, {(n / 4 + 15) / 16, (m + 15) / 16, 1});
  Body* body = program.mutable_body();
  const std::initializer_list<Term> column = {{16, GROUP_X}, {1, LOCAL_X}};
  Body* loop = add_loop(body, 0, expression(0), expression(k / 4));
  for (std::int64_t row = 0; row < 4; ++row) {
    add_access(&program, loop, trace::IMAGE, false, 8, 0, expression(0, {{1, LOOP, 0}}),
               expression(row, {{16, GROUP_Y}, {4, LOCAL_Y}}));
  }
  for (std::int64_t step = 0; step < 4; ++step) {
    add_access(&program, loop, trace::IMAGE, false, 8, 1, expression(0, column),
               expression(step, {{4, LOOP, 0}}));
    add_arithmetic(loop, trace::FMA, 16, 3 - static_cast<std::uint32_t>(step));
  }
  for (std::int64_t row = 0; row < 4; ++row) {
    Body* inside =
        add_guard(body, expression(row, {{16, GROUP_Y}, {4, LOCAL_Y}}), trace::LT, expression(m))
            ->mutable_body();
    add_access(&program, inside, trace::IMAGE, true, 8, 2, expression(0, column),
               expression(row, {{16, GROUP_Y}, {4, LOCAL_Y}}));
  }
  return program;
}

}  // namespace fm::test
