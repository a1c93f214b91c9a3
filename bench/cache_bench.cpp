// How many line requests a second the shared levels serve, from a core's port to where the data is:
// in the L2, in the system-level cache behind it, or in DRAM behind both.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/memory/cache_level.hpp"
#include "sim/memory/memory_parameters.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/kernel_context.hpp"

namespace fm {
namespace {

/// One core's port: keeps `outstanding` line reads in flight over its share of a footprint.
class Requester : public Block, private LineSink {
 public:
  struct Stream {
    std::uint64_t first_line = 0, stride = 1, lines = 1;  ///< of the footprint, in lines
    std::uint64_t requests = 0;
    std::uint32_t outstanding = 32;
  };
  Requester(const char* name, const MemoryParameters& parameters, MemoryLevel* level,
            const Stream& stream)
      : Block(name, parameters.clock, false),
        stream_(stream),
        level_(level),
        line_(stream.first_line),
        latency_(parameters.request_cycles * parameters.clock.period),
        source_(level->attach(this, parameters.answer_cycles * parameters.clock.period)) {
    wake_by(0);
  }
  std::uint64_t answered() const { return answered_; }

 private:
  void answer(const LineAnswer& answer) override {
    answers_.push(answer);
    wake_by(answer.time);
  }
  Ticks advance(Ticks now, Ticks end) override {
    while (sent_ < stream_.outstanding) send(now + sent_ * clock().period);
    while (!answers_.empty() && answers_.front().time < end) {
      ++answered_;
      if (sent_ < stream_.requests) send(answers_.front().time);
      answers_.pop();
    }
    return answers_.empty() ? never : answers_.front().time;
  }
  void send(Ticks time) {
    LineRequest request;
    request.time = time + latency_;
    request.bytes = level_->line_bytes();
    request.address = line_ * request.bytes;
    request.byte_mask = full_line_mask(request.bytes);
    request.sequence = sent_++;
    request.source = source_;
    request.client = MemoryClient::texture;
    line_ = (line_ + stream_.stride) % stream_.lines;
    level_->receive(request);
  }

  const Stream stream_;
  MemoryLevel* level_;
  std::uint64_t line_;
  Ticks latency_;
  std::uint16_t source_;
  std::uint64_t sent_ = 0, answered_ = 0;
  AnswerQueue answers_;
};

void read_lines(benchmark::State& state, const char* device, std::uint64_t footprint,
                std::uint64_t requests) {
  const DeviceConfig config = DeviceConfig::load(device);
  const MemoryParameters parameters = memory_parameters(config);
  const std::uint64_t cores = config.count("gpu.cores");
  std::uint64_t answered = 0;
  for (auto _ : state) {
    KernelContext context;
    CounterRegistry registry;
    MemorySystem memory(parameters, registry);
    std::vector<std::unique_ptr<Requester>> requesters;
    for (std::uint64_t core = 0; core < cores; ++core) {
      Requester::Stream stream;
      stream.first_line = core;
      stream.stride = cores;
      stream.lines = footprint / parameters.l2.line_bytes;
      stream.requests = requests / cores;
      const std::string name = "requester" + std::to_string(core);
      requesters.push_back(
          std::make_unique<Requester>(name.c_str(), parameters, &memory.l2(), stream));
    }
    context.run();
    for (const auto& requester : requesters) answered += requester->answered();
    const double lookups = static_cast<double>(registry.value("l2.read_lookups"));
    state.counters["l2_hits"] = static_cast<double>(registry.value("l2.read_hits")) / lookups;
    state.counters["slc_hits"] = static_cast<double>(registry.value("slc.read_hits")) / lookups;
    state.counters["simulated_us"] = static_cast<double>(now_ps()) * 1e-6;
    if (!memory.idle()) state.SkipWithError("not drained");
  }
  state.counters["requests/s"] =
      benchmark::Counter(static_cast<double>(answered), benchmark::Counter::kIsRate);
}

constexpr std::uint64_t kibi = 1024, mebi = kibi * 1024;

BENCHMARK_CAPTURE(read_lines, l2_mali_g715, "mali-g715", 512 * kibi, 1 << 20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_lines, slc_mali_g715, "mali-g715", 5 * mebi / 2, 1 << 20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_lines, dram_mali_g715, "mali-g715", 64 * mebi, 1 << 20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_lines, slc_adreno_750, "adreno-750", 5 * mebi / 2, 1 << 20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_lines, dram_adreno_750, "adreno-750", 64 * mebi, 1 << 20)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fm
