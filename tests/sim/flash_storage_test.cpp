#include "sim/storage/flash_storage.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "sim/memory/memory_system.hpp"
#include "sim/replay/kernel_context.hpp"

namespace fm {
namespace {

TEST(FlashStorage, BandwidthIsLinearInTheLogarithmOfTheSize) {
  const std::vector<CurvePoint> curve{{4096, 400e6}, {65536, 1200e6}, {524288, 2100e6}};
  EXPECT_DOUBLE_EQ(bandwidth_at(curve, Bytes(1)), 400e6);
  EXPECT_DOUBLE_EQ(bandwidth_at(curve, Bytes(4096)), 400e6);
  EXPECT_DOUBLE_EQ(bandwidth_at(curve, Bytes(16384)), 800e6);  // half way from 2^12 to 2^16
  EXPECT_DOUBLE_EQ(bandwidth_at(curve, Bytes(65536)), 1200e6);
  EXPECT_DOUBLE_EQ(bandwidth_at(curve, Bytes(1 << 30)), 2100e6);
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
  return config;
}

/// When each of the reads, all issued at the start, is in memory.
std::vector<double> microseconds_of(const DeviceConfig& config,
                                    const std::vector<std::uint64_t>& reads) {
  Bench bench(config);
  std::vector<double> ends(reads.size());
  bench.agenda.after(Picoseconds(0), [&] {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      bench.storage.read(Address(i << 24), Bytes(reads[i]),
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

}  // namespace
}  // namespace fm
