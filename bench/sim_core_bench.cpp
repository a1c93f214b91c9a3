// How many wave accesses a second the GPU model simulates: a ViT-B/16 projection (197 x 768 x 768)
// on 2.5D images.

#include <benchmark/benchmark.h>

#include "tests/sim/gpu_machine.hpp"

namespace {

void simulate_gemm(benchmark::State& state, const char* device) {
  const fm::DeviceConfig config = fm::DeviceConfig::load(device);
  const fm::trace::AccessProgram program = fm::test::gemm_program(197, 768, 768);
  std::uint64_t accesses = 0, lookups = 0;
  for (auto _ : state) {
    fm::test::GpuMachine machine(config);
    machine.add(program,
                {fm::test::image(0, 1 << 24, 192, 197, 8), fm::test::image(1, 2 << 24, 192, 768, 8),
                 fm::test::image(2, 3 << 24, 192, 197, 8)});
    machine.run();
    accesses += machine.counter("core.accesses");
    lookups += machine.counter("texture.read_lookups");
    state.counters["launch_us"] =
        static_cast<double>(machine.reports()[0].end.count() - machine.reports()[0].start.count()) *
        1e-6;
    if (!machine.faults().empty()) state.SkipWithError(machine.faults()[0].c_str());
  }
  state.counters["accesses/s"] =
      benchmark::Counter(static_cast<double>(accesses), benchmark::Counter::kIsRate);
  state.counters["lookups/s"] =
      benchmark::Counter(static_cast<double>(lookups), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(simulate_gemm, mali_g715, "mali-g715")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_gemm, adreno_750, "adreno-750")->Unit(benchmark::kMillisecond);

}  // namespace
