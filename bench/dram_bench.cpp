// How many 64-byte requests a second one DRAM channel simulates, its queue of 32 always full.

#include <benchmark/benchmark.h>

#include "sim/memory/dram_stream.hpp"

namespace {

fm::DramParameters ddr4() {
  fm::DramParameters dram;
  dram.clock = 1600e6;
  dram.row_bytes = 8192;
  dram.burst_bytes = 64;
  dram.mapping = "row bank group column";
  dram.hash = "none";
  dram.controller = 0;
  fm::DramTiming& t = dram.timing;
  t.burst = 4;
  t.cl = 22;
  t.cwl = 16;
  t.rcd = t.rp = t.rp_all = 22;
  t.ras = 52;
  t.rc = 74;
  t.rrd_s = 4;
  t.rrd_l = 8;
  t.faw = 34;
  t.ccd_s = 4;
  t.ccd_l = 8;
  t.rtp = 12;
  t.wr = 24;
  t.wtr_s = 4;
  t.wtr_l = 12;
  t.ppd = 1;
  t.refi = 12480;
  t.rfc = 576;
  return dram;
}

fm::DramParameters lpddr5() {
  fm::DramParameters dram;
  dram.mapping = "row bank group column";
  dram.hash = "none";
  dram.controller = 0;
  dram.timing.aad = 8;
  dram.timing.wck_sync = true;
  dram.timing.wck_post = 1;
  return dram;
}

void stream(benchmark::State& state, const fm::DramParameters& parameters,
            fm::DramStream::Pattern pattern) {
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
BENCHMARK_CAPTURE(stream, ddr4_3200_seq, ddr4(), Pattern::sequential)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, ddr4_3200_rnd, ddr4(), Pattern::random)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, lpddr5_6400_seq, lpddr5(), Pattern::sequential)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, lpddr5_6400_rnd, lpddr5(), Pattern::random)
    ->Unit(benchmark::kMillisecond);

}  // namespace
