#include "sim/memory/dram_stream.hpp"

#include <algorithm>

#include "sim/memory/dram_channel.hpp"
#include "sim/replay/kernel_context.hpp"

namespace fm {
namespace {

/// Vigna's splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound).
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(next()) * bound >> 64);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// A full queue: so many more requests wait before it.
constexpr std::uint32_t spare_requests = 64;
/// ... and the channel runs ahead by as many clocks.
constexpr Ticks long_lookahead_clocks = 16;

class ClosedLoop : private LineSink {
 public:
  ClosedLoop(const DramParameters& parameters, const DramStream& stream, DramObserver* observer)
      : stream_(stream),
        period_(DramClock(parameters.clock).period_fs() / 1000),
        lookahead_(stream.window == 0 ? long_lookahead_clocks * period_ : period_ / 2),
        dram_({lookahead_, lookahead_}, parameters),
        // There and back make one clock.
        source_(dram_.attach(this, stream.window == 0 ? lookahead_ : period_ - lookahead_)),
        random_(stream.seed) {
    dram_.channels()[0]->observe(observer);
    const std::uint64_t window =
        stream.window != 0 ? stream.window
                           : parameters.read_queue + parameters.write_queue + spare_requests;
    for (std::uint64_t i = 0; i < window; ++i) send(0);
  }

  void run() { context_.run(); }
  DramStreamReport report() const;

 private:
  struct Sent {
    Ticks time;
    bool read;
  };
  void answer(const LineAnswer& answer) override {
    const Sent& sent = in_flight_[answer.tag];
    if (sent.read) latency_ += answer.time - sent.time;
    end_ = std::max(end_, answer.time);
    send(answer.time);
  }
  void send(Ticks time) {
    if (sent_ == stream_.requests) return;
    LineRequest request;
    request.time = time + lookahead_;
    request.address = next_address();
    request.bytes = stream_.bytes;
    request.byte_mask = ~std::uint64_t{0};
    request.kind = stream_.write_share > 0 && random_.unit() < stream_.write_share
                       ? AccessKind::write
                       : AccessKind::read;
    request.source = source_;
    request.sequence = sent_;
    request.tag = static_cast<std::uint32_t>(sent_ % in_flight_.size());
    in_flight_[request.tag] = {time, request.kind == AccessKind::read};
    ++sent_;
    dram_.receive(request);
  }
  std::uint64_t next_address() {
    if (stream_.pattern == DramStream::Pattern::sequential) return sent_ * stream_.bytes;
    const std::uint64_t step = std::max(64u, stream_.bytes);
    if (piece_ % step == 0) {
      piece_ = 0;
      base_ = random_.below(stream_.span / step) * step;
    }
    const std::uint64_t address = base_ + piece_;
    piece_ += stream_.bytes;
    return address;
  }

  const DramStream stream_;
  KernelContext context_;
  const Ticks period_, lookahead_;
  DramSystem dram_;
  const std::uint16_t source_;
  Random random_;
  std::vector<Sent> in_flight_ = std::vector<Sent>(1 << 16);
  std::uint64_t sent_ = 0, piece_ = 0, base_ = 0;
  Ticks latency_ = 0, end_ = 0;
};

DramStreamReport ClosedLoop::report() const {
  DramStreamReport report;
  report.counts = dram_.channels()[0]->counts();
  report.clock = dram_.parameters().clock;
  report.seconds = static_cast<double>(end_) * 1e-12;
  report.bytes_per_second = static_cast<double>(stream_.requests * stream_.bytes) / report.seconds;
  report.peak_bytes_per_second = dram_.peak_bytes_per_second();
  std::uint64_t reads = 0;
  for (const auto& client : report.counts.requests) reads += client[index_of(AccessKind::read)];
  const Ticks sum = stream_.window == 0 ? report.counts.service_latency : latency_;
  report.latency = reads == 0 ? 0 : static_cast<double>(sum) * 1e-12 / static_cast<double>(reads);
  report.mean_queue =
      static_cast<double>(report.counts.queued_clocks) / (report.seconds * report.clock);
  return report;
}

}  // namespace

DramStreamReport run_dram_stream(const DramParameters& parameters, const DramStream& stream,
                                 DramObserver* observer) {
  DramParameters one = parameters;
  one.channels = 1;
  one.line_bytes = std::max(stream.bytes, one.burst_bytes);
  ClosedLoop loop(one, stream, observer);
  loop.run();
  return loop.report();
}

}  // namespace fm
