// How many 64-byte requests a second one DRAM channel simulates, its queue of 32 always full.

#include <benchmark/benchmark.h>

#include "sim/memory/dram_stream.hpp"
#include "sim/memory/memory_parameters.hpp"

namespace {

fm::DramParameters channel(const char* preset) {
  fm::DeviceConfig config = fm::DeviceConfig::load("mali-g715");
  config.set("dram.preset", preset);
  config.set("dram.mapping", "row bank group column");
  config.set("dram.hash", "none");
  fm::DramParameters parameters = fm::dram_parameters(config);
  parameters.controller = 0;
  return parameters;
}

void stream(benchmark::State& state, const char* preset, fm::DramStream::Pattern pattern) {
  const fm::DramParameters parameters = channel(preset);
  fm::DramStream stream;
  stream.pattern = pattern;
  stream.requests = 200000;
  std::uint64_t requests = 0;
  double bandwidth = 0;
  for (auto _ : state) {
    bandwidth = fm::run_dram_stream(parameters, stream).bytes_per_second;
    requests += stream.requests;
  }
  state.counters["requests/s"] =
      benchmark::Counter(static_cast<double>(requests), benchmark::Counter::kIsRate);
  state.counters["simulated GB/s"] = bandwidth * 1e-9;
}

using Pattern = fm::DramStream::Pattern;
BENCHMARK_CAPTURE(stream, ddr4_3200_seq, "ddr4-3200", Pattern::sequential)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, ddr4_3200_rnd, "ddr4-3200", Pattern::random)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, lpddr5_6400_seq, "lpddr5-6400", Pattern::sequential)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, lpddr5_6400_rnd, "lpddr5-6400", Pattern::random)
    ->Unit(benchmark::kMillisecond);

}  // namespace
