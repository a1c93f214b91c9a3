#include "sim/storage/flash_storage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "sim/memory/memory_system.hpp"
#include "sim/replay/kernel_context.hpp"

namespace fm {
namespace {

TEST(FlashStorage, BandwidthIsLinearInTheLogarithmOfTheSize) {
  const std::vector<CurvePoint> curve{{4096, 400e6}, {65536, 1200e6}, {524288, 2100e6}};
  EXPECT_DOUBLE_EQ(curve_at(curve, 1), 400e6);
  EXPECT_DOUBLE_EQ(curve_at(curve, 4096), 400e6);
  EXPECT_DOUBLE_EQ(curve_at(curve, 16384), 800e6);  // half way from 2^12 to 2^16
  EXPECT_DOUBLE_EQ(curve_at(curve, 65536), 1200e6);
  EXPECT_DOUBLE_EQ(curve_at(curve, 1 << 30), 2100e6);
}

/// Storage in front of a whole memory system.
struct Bench {
  explicit Bench(const DeviceConfig& config)
      : memory(config, registry),
        agenda("agenda"),
        storage(config, memory.port(MemoryClient::storage), agenda, registry) {}

  KernelContext context;
  CounterRegistry registry;
  MemorySystem memory;
  Agenda agenda;
  FlashStorage storage;
};

DeviceConfig config_with_queues(const std::string& queues) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  config.set("storage.read_bandwidth", "[[4 KiB, 1 GB/s]]");
  config.set("storage.command_latency", "100 us");
  config.set("storage.queues", queues);
  config.set("storage.random_ratio", "[[4 KiB, 1]]");
  return config;
}

/// When each of the reads, all issued at the start, is in memory.
std::vector<double> microseconds_of(const DeviceConfig& config,
                                    const std::vector<std::uint64_t>& reads) {
  Bench bench(config);
  std::vector<double> ends(reads.size());
  bench.agenda.after(Picoseconds(0), [&] {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      bench.storage.read({i << 24, Address(i << 24), Bytes(reads[i])},
                         [&ends, i] { ends[i] = static_cast<double>(now_ps()) / 1e6; });
    }
  });
  bench.context.run();
  EXPECT_TRUE(bench.storage.idle());
  EXPECT_TRUE(bench.memory.idle());
  std::vector<ResultCheck> checks;
  bench.storage.append_checks(&checks);
  bench.memory.append_checks(&checks);
  for (const ResultCheck& check : checks) EXPECT_TRUE(check.holds()) << check.law;
  std::uint64_t bytes = 0;
  for (const std::uint64_t read : reads) bytes += read;
  EXPECT_EQ(bench.storage.bytes_read().count(), bytes);
  return ends;
}

// Memory takes a page much faster than the flash delivers it; what is left of it is the last page's
// way: below 5 us.
TEST(FlashStorage, OneQueueServesInOrderAndOnlyTheFirstPaysTheCommand) {
  const std::vector<double> ends =
      microseconds_of(config_with_queues("1"), {1'000'000, 500'000, 0});
  EXPECT_GE(ends[0], 1100);
  EXPECT_LT(ends[0], 1105);
  EXPECT_GE(ends[1], 1600);
  EXPECT_LT(ends[1], 1605);
  EXPECT_GE(ends[2], ends[1]);
}

TEST(FlashStorage, QueuesShareTheFlash) {
  const std::vector<double> ends = microseconds_of(config_with_queues("2"), {1'000'000, 1'000'000});
  EXPECT_GT(ends[0], 1900);  // page by page in turn
  EXPECT_GE(ends[1], 2100);
  EXPECT_LT(ends[1], 2110);
}

// Page after page waits for memory's answer; a buffer overlaps them.
TEST(FlashStorage, ACongestedMemoryHoldsTheFlashBack) {
  DeviceConfig config = config_with_queues("1");
  config.set("storage.read_bandwidth", "[[4 KiB, 400 GB/s]]");
  config.set("storage.buffer", "4 KiB");
  const double paged = microseconds_of(config, {1'000'000})[0];
  EXPECT_GT(paged, 100 + 1'000'000 / 400e3 + 10);
  config.set("storage.buffer", "64 KiB");
  const double buffered = microseconds_of(config, {1'000'000})[0];
  EXPECT_LT(buffered, paged);
  EXPECT_GT(buffered, 100 + 1'000'000 / 400e3);
}

// 10 commands of 100 us in a queue of 4: the latencies of four overlap, the fifth enters when the
// first is done.
TEST(FlashStorage, CommandsInTheQueueHideEachOthersLatency) {
  DeviceConfig config = config_with_queues("1");
  config.set("storage.read_bandwidth", "[[4 KiB, 4.096 GB/s]]");  // 1 us a request
  config.set("storage.queue_depth", "4");
  const std::vector<double> ends = microseconds_of(config, std::vector<std::uint64_t>(10, 4096));
  EXPECT_NEAR(ends[0], 101, 1);
  EXPECT_NEAR(ends[3], 104, 1);
  EXPECT_NEAR(ends[4], ends[0] + 101, 1);
  EXPECT_NEAR(ends[8], ends[4] + 101, 1);
  config.set("storage.queue_depth", "32");
  EXPECT_NEAR(microseconds_of(config, std::vector<std::uint64_t>(10, 4096))[9], 110, 2);
}

// Four requests of 1 MB wait together: the first runs at the share of depth 4, the last at that of
// depth 1.
TEST(FlashStorage, DepthSetsTheShareOfTheBandwidth) {
  DeviceConfig config = config_with_queues("1");
  config.set("storage.depth_share", "[[1, 0.5], [4, 1]]");
  const std::vector<double> ends =
      microseconds_of(config, std::vector<std::uint64_t>(4, 1'000'000));
  EXPECT_NEAR(ends[0], 100 + 1000, 5);
  EXPECT_NEAR(ends[1] - ends[0], 1000 / (0.5 + 0.25 * std::log2(3)), 5);
  EXPECT_NEAR(ends[2] - ends[1], 1000 / 0.75, 5);
  EXPECT_NEAR(ends[3] - ends[2], 1000 / 0.5, 5);
}

TEST(FlashTiming, RandomReadsAreSlowerByTheirSizeAndRange) {
  DeviceConfig config = DeviceConfig::load("adreno-750");
  config.set("storage.read_bandwidth", "[[4 KiB, 450 MB/s], [512 KiB, 4 GB/s]]");
  config.set("storage.random_ratio", "[[4 KiB, 1], [512 KiB, 0.875]]");
  config.set("storage.random_range", "[[128 MiB, 2.22], [512 MiB, 1.89], [8 GiB, 1]]");
  const FlashTiming timing(config);
  const std::uint64_t mib = 1 << 20;
  const auto random = [&](std::uint64_t bytes, std::uint64_t range) {
    return timing.bandwidth({false, range}, Bytes(bytes), 1);
  };
  EXPECT_NEAR(random(4096, 128 * mib), 999e6, 1e3);  // PowerInfer-2: 1 GB/s
  EXPECT_NEAR(random(4096, 512 * mib), 850.5e6, 1e3);
  EXPECT_NEAR(random(4096, 64 * 1024 * mib), 450e6, 1e3);
  EXPECT_NEAR(random(524288, 64 * 1024 * mib), 3.5e9, 1e3);
  EXPECT_NEAR(random(524288, mib), 4e9, 1e3) << "never above the device's best";
  EXPECT_NEAR(timing.bandwidth({true, 64 * 1024 * mib}, Bytes(524288), 1), 4e9, 1e3);
}

TEST(ReadPattern, KnowsWhatContinuesAndHowFarReadsAreApart) {
  ReadPattern pattern;
  EXPECT_TRUE(pattern.add(1000, Bytes(100)).sequential);
  const ReadPattern::Place next = pattern.add(1100, Bytes(100));
  EXPECT_TRUE(next.sequential);
  EXPECT_EQ(next.range, 200u);
  const ReadPattern::Place away = pattern.add(5000, Bytes(100));
  EXPECT_FALSE(away.sequential);
  EXPECT_EQ(away.range, 4100u);
  for (std::uint64_t i = 0; i < 31; ++i) pattern.add(5100 + 100 * i, Bytes(100));
  const ReadPattern::Place later = pattern.add(8200, Bytes(100));
  EXPECT_TRUE(later.sequential);
  EXPECT_EQ(later.range, 3200u) << "only the newest 32 count";
}

}  // namespace
}  // namespace fm
