// Reuse distances against brute force, requests in order, perfect parts, request dumps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "sim/memory/request_order.hpp"
#include "sim/replay/perfect.hpp"
#include "sim/replay/request_dump.hpp"
#include "sim/stats/reuse_distance.hpp"
#include "tests/sim/gpu_machine.hpp"
#include "tests/sim/reference_cache.hpp"

namespace fm {
namespace {

using test::GpuMachine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ReuseDistance, SmallSequence) {
  ReuseDistance distances;
  constexpr std::uint64_t first = ReuseDistance::first_use;
  std::vector<std::uint64_t> got;
  for (const std::uint64_t key : {7, 8, 7, 7, 9, 8, 7}) got.push_back(distances.access(key));
  EXPECT_THAT(got, ElementsAre(first, first, 2, 1, first, 3, 3));
  EXPECT_EQ(distances.hits(1), 1u);
  EXPECT_EQ(distances.hits(2), 2u);
  EXPECT_EQ(distances.hits(3), 4u);
  EXPECT_EQ(distances.keys(), 3u);
}

TEST(ReuseDistance, HitsEqualThoseOfFullyAssociativeCaches) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 random(seed);
    ReuseDistance distances;
    const std::vector<std::uint64_t> sizes = {1, 2, 3, 8, 50, 200, 700};
    std::vector<test::ReferenceCache> caches;
    for (const std::uint64_t size : sizes) caches.emplace_back(1, size);
    std::vector<std::uint64_t> hits(sizes.size());
    for (int i = 0; i < 12000; ++i) {
      const std::uint64_t key = random() % (random() % 3 == 0 ? 900 : 40 + 100 * seed);
      distances.access(key);
      for (std::size_t c = 0; c < sizes.size(); ++c) hits[c] += caches[c].access(key, 0) ? 1 : 0;
    }
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      EXPECT_EQ(distances.hits(sizes[c]), hits[c]) << sizes[c] << " lines, seed " << seed;
    }
  }
}

TEST(RequestOrder, HandsOnByTimeSourceAndSequence) {
  std::vector<std::uint64_t> addresses;
  RequestOrder order([&](const LineRequest& request) { addresses.push_back(request.address); });
  const auto arrive = [&](Ticks time, std::uint16_t source, std::uint64_t address) {
    LineRequest request;
    request.time = time;
    request.source = source;
    request.address = address;
    order.arriving(request);
  };
  arrive(30, 0, 4);
  arrive(10, 1, 2);
  arrive(10, 0, 1);
  arrive(20, 0, 3);
  order.settle(20);
  EXPECT_THAT(addresses, ElementsAre(1, 2));
  order.finish();
  EXPECT_THAT(addresses, ElementsAre(1, 2, 3, 4));
}

TEST(RequestDump, WritesOneRowARequestAndCompressesByName) {
  const std::string folder = testing::TempDir();
  LineRequest request;
  request.time = 12;
  request.address = 0x4c0;
  request.bytes = 64;
  request.client = MemoryClient::texture;
  const std::string expected = "time_ps,client,kind,address,bytes\n12,texture,read,0x4c0,64\n";
  for (const std::string name : {"requests.csv", "requests.csv.zst"}) {
    const std::string path = folder + name;
    RequestDump dump(path);
    dump.write(request);
    dump.finish();
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    std::string text = bytes.str();
    if (name != "requests.csv") {
      std::string raw(1000, '\0');
      raw.resize(ZSTD_decompress(raw.data(), raw.size(), text.data(), text.size()));
      text = raw;
    }
    EXPECT_EQ(text, expected);
    std::filesystem::remove(path);
  }
}

DeviceConfig config_of(const char* device) { return DeviceConfig::load(device); }

/// Duration of a small GEMM on images, in cycles; all laws hold.
double gemm_time(const std::set<PerfectPart>& parts, std::uint64_t* dram_reads) {
  const DeviceConfig config = with_perfect(config_of("mali-g715"), parts);
  GpuMachine machine(config, with_perfect(memory_parameters(config), parts),
                     parts.count(PerfectPart::texture) != 0);
  machine.add(test::gemm_program(64, 64, 64),
              {test::image(0, 1 << 24, 16, 64, 8), test::image(1, 2 << 24, 16, 64, 8),
               test::image(2, 3 << 24, 16, 64, 8)});
  machine.run();
  EXPECT_THAT(machine.faults(), IsEmpty());
  *dram_reads = machine.counter("dram.texture_read_bursts");
  const GpuLaunchReport& report = machine.reports().at(0);
  return static_cast<double>(report.end.count() - report.start.count());
}

TEST(Perfect, EachPartOnlyEverSavesTime) {
  std::uint64_t reads = 0;
  const double plain = gemm_time({}, &reads);
  EXPECT_GT(reads, 0u);
  for (const PerfectPart part :
       {PerfectPart::l2, PerfectPart::dram, PerfectPart::texture, PerfectPart::launch}) {
    EXPECT_LT(gemm_time({part}, &reads), plain) << to_string(part);
    EXPECT_EQ(reads == 0, part == PerfectPart::l2 || part == PerfectPart::texture)
        << to_string(part);
  }
}

TEST(Perfect, WordsAreChecked) {
  EXPECT_EQ(parse_perfect({"dram", "l2", "dram"}).size(), 2u);
  EXPECT_TRUE(parse_perfect({}).empty());
  try {
    parse_perfect({"drma"});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("dram"));
  }
}

}  // namespace
}  // namespace fm
