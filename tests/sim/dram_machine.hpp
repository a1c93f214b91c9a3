#pragma once
// One DRAM channel under hand-made requests, and the log of its commands.

#include <map>
#include <vector>

#include "sim/memory/dram_channel.hpp"
#include "sim/replay/kernel_context.hpp"

namespace fm::test {

struct LoggedCommand {
  DramCycle cycle = 0;
  DramCommand command = DramCommand::activate;
  std::uint32_t bank = 0;
  std::uint64_t row = 0;
};

class DramMachine : private LineSink, private DramObserver {
 public:
  explicit DramMachine(const DramParameters& parameters)
      : clock_{1, link}, dram_(clock_, parameters), source_(dram_.attach(this, link)) {
    dram_.channels()[0]->observe(this);
  }

  /// `time`: of arrival at the channel.
  void send(Ticks time, std::uint64_t address, AccessKind kind = AccessKind::read,
            std::uint64_t mask = ~std::uint64_t{0}) {
    LineRequest request;
    request.time = time;
    request.address = address;
    request.bytes = dram_.line_bytes();
    request.byte_mask = mask;
    request.kind = kind;
    request.source = source_;
    request.sequence = request.tag = next_++;
    dram_.receive(request);
  }
  void run() { context_.run(); }
  /// When request number `tag` left the channel.
  Ticks left(std::uint32_t tag) const { return answers_.at(tag) - link; }
  std::size_t answers() const { return answers_.size(); }
  const DramSystem& dram() const { return dram_; }
  const DramCounts& counts() const { return dram_.channels()[0]->counts(); }
  const std::vector<LoggedCommand>& log() const { return log_; }

 private:
  static constexpr Ticks link = 5;
  void answer(const LineAnswer& answer) override { answers_[answer.tag] = answer.time; }
  void command(DramCycle cycle, DramCommand command, std::uint32_t bank,
               std::uint64_t row) override {
    log_.push_back({cycle, command, bank, row});
  }
  KernelContext context_;
  Clock clock_;
  DramSystem dram_;
  std::uint16_t source_;
  std::uint32_t next_ = 0;
  std::map<std::uint32_t, Ticks> answers_;
  std::vector<LoggedCommand> log_;
};

}  // namespace fm::test
