// What a simulation that cannot go on says: purpose-made blocks that never answer or never rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnostics.hpp"
#include "sim/memory/cache_level.hpp"
#include "sim/memory/memory_port.hpp"
#include "sim/memory/wait_graph.hpp"
#include "sim/replay/kernel_context.hpp"
#include "sim/replay/simulation.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

/// Takes every request and answers none.
class StuckLevel : public MemoryLevel {
 public:
  std::uint16_t attach(LineSink*, Ticks) override { return 0; }
  void receive(const LineRequest&) override {}
  std::uint32_t line_bytes() const override { return 64; }
  std::string level_name() const override { return "stuck"; }
};

/// Wakes itself for ever.
class Spinner : public Block {
 public:
  using Block::Block;

 protected:
  Ticks advance(Ticks, Ticks end) override { return end + 1000; }
};

TEST(Deadlock, NamesTheChainDownToTheStuckBlockAndTheOldestRequest) {
  KernelContext context;
  const Clock clock{1000, 10000};
  StuckLevel stuck;
  CacheParameters parameters;
  parameters.name = "l2";
  parameters.bytes = 4096;
  parameters.ways = 4;
  parameters.mshrs = 2;
  parameters.cycle = 1000;
  CacheLevel cache("l2", clock, parameters, &stuck, 10000);
  MemoryPort port("port", clock, &cache, MemoryClient::storage, 8, 10000);
  bool done = false;
  port.submit({Address(0x1f40), Bytes(640), false}, [&] { done = true; });
  context.run();
  EXPECT_FALSE(done);
  std::vector<Wait> waits;
  port.append_waits(&waits);
  cache.append_waits(&waits);
  const std::string report = wait_report(waits);
  EXPECT_THAT(report, HasSubstr("chain: storage port -> l2 slice 0 -> stuck (which has nothing to "
                                "do)"));
  EXPECT_THAT(report, HasSubstr("oldest request: read of 640 B at 0x1f40 for storage, since 0 ps, "
                                "in storage port"));
  EXPECT_THAT(report, HasSubstr("l2 slice 0: 6 requests queued, 2 fetches and 0 writes below, "
                                "stalled for an MSHR; read of 64 B at 0x1f40 for storage, since "
                                "10000 ps; waits for stuck"));
}

TEST(Deadlock, NamesACycle) {
  const std::vector<Wait> waits{{"thread 0", "a wait", {"queue 0"}, std::nullopt},
                                {"queue 0", "a launch", {"thread 1"}, std::nullopt},
                                {"queue 10", "another", {}, std::nullopt},
                                {"thread 1", "a read", {"queue 0"}, std::nullopt}};
  EXPECT_THAT(wait_report(waits), HasSubstr("cycle: queue 0 -> thread 1 -> queue 0"));
}

TEST(Deadlock, TellsBlocksOfOneNameApart) {
  // "queue 1" is not the first part of "queue 10".
  const std::vector<Wait> waits{{"thread 0", "a wait", {"queue 1"}, std::nullopt},
                                {"queue 10", "busy", {}, std::nullopt},
                                {"queue 1", "stuck", {}, std::nullopt}};
  EXPECT_THAT(wait_report(waits),
              HasSubstr("chain: thread 0 -> queue 1 (which waits for no other"));
}

TEST(Deadlock, ABlockThatNeverRestsIsStoppedAndReported) {
  KernelContext context;
  Spinner spinner("spinner", Clock{1000, 10000}, BlockWindow::ahead);
  spinner.wake_by(0);
  std::uint64_t work = 0, looks = 0;
  context.watch([&] { return ++looks < 5 ? ++work : work; },
                [](std::uint64_t since) {
                  throw DeadlockError("nothing since " + std::to_string(since) + " ps");
                },
                1000);
  EXPECT_THROW(context.run(), DeadlockError);
  EXPECT_EQ(looks, 5u);
}

TEST(Deadlock, IsOurOwnFault) {
  const int status = run_main("fmsim", []() -> ExitStatus { throw DeadlockError("a cycle"); });
  EXPECT_EQ(status, 1);
}

/// Two threads that wait for each other: the whole machine's report.
TEST(Deadlock, HostThreadsInACircleAreNamedWithTheirOperations) {
  test::TraceBuilder builder;
  builder.on_thread(0).wait({2});
  builder.on_thread(1).wait({1});
  const DeviceConfig config = DeviceConfig::load("mali-g715");
  try {
    simulate(config, builder.trace());
    FAIL() << "it drained";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cycle: thread 0 -> thread 1 -> thread 0"));
    EXPECT_THAT(error.what(), HasSubstr("thread 0: operation 1 (wait), operation 2 missing"));
  }
}

}  // namespace
}  // namespace fm
