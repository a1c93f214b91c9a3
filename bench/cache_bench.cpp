// How many line requests a second the shared levels serve, from a core's port to where the data is:
// in the L2, in the system-level cache behind it, or in DRAM behind both.

#include <benchmark/benchmark.h>

#include "sim/memory/cache_level.hpp"
#include "sim/memory/memory_parameters.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/replay/kernel_context.hpp"

namespace fm {
namespace {

/// The cores' ports as one block: keeps `outstanding` line reads in flight over a footprint.
class Requester : public Block, private LineSink {
 public:
  struct Stream {
    std::uint64_t lines = 1;  ///< of the footprint, read one after another, again and again
    std::uint64_t requests = 0;
    std::uint32_t outstanding = 32;
  };
  Requester(const char* name, const MemoryParameters& parameters, MemoryLevel* level,
            const Stream& stream)
      : Block(name, parameters.clock, BlockWindow::ahead),
        stream_(stream),
        level_(level),
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
    if (++line_ == stream_.lines) line_ = 0;
    level_->receive(request);
  }

  const Stream stream_;
  MemoryLevel* level_;
  Ticks latency_;
  std::uint16_t source_;
  std::uint64_t line_ = 0, sent_ = 0, answered_ = 0;
  AnswerQueue answers_;
};

void read_lines(benchmark::State& state, const char* device, std::uint64_t footprint,
                std::uint64_t requests) {
  const DeviceConfig config = DeviceConfig::load(device);
  const MemoryParameters parameters = memory_parameters(config);
  std::uint64_t answered = 0;
  for (auto _ : state) {
    KernelContext context;
    CounterRegistry registry;
    MemorySystem memory(parameters, registry);
    Requester::Stream stream;
    stream.lines = footprint / parameters.l2.line_bytes;
    stream.requests = requests;
    stream.outstanding = 32 * parameters.cores;
    Requester requester("requester", parameters, &memory.l2(), stream);
    context.run();
    answered += requester.answered();
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
