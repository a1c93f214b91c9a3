// A cache slice, request by request, and against a reference on random streams.

#include "sim/memory/cache_slice.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/sim/reference_cache.hpp"

namespace fm {
namespace {

constexpr std::uint64_t half_line = 0xffffffff;

/// Records what a slice sends and answers what it asks of below after `below_latency`.
class Harness : public CacheSlice::Outlet {
 public:
  explicit Harness(const CacheParameters& parameters, Ticks below_latency = 100)
      : line_bytes_(parameters.line_bytes),
        below_latency_(below_latency),
        slice_(parameters, 0, this) {}

  void send(Ticks time, std::uint64_t address, AccessKind kind = AccessKind::read,
            std::uint64_t mask = ~std::uint64_t{0}) {
    LineRequest request;
    request.time = time;
    request.address = address;
    request.bytes = line_bytes_;
    request.byte_mask = mask;
    request.kind = kind;
    request.sequence = sequence_++;
    request.tag = static_cast<std::uint32_t>(request.sequence);
    slice_.receive(request);
  }
  /// Runs until nothing is left.
  void run() {
    while (slice_.advance(never) != never) {
    }
  }

  CacheSlice& slice() { return slice_; }
  const CacheCounts& counts() const { return slice_.counts(); }
  Ticks answered(std::uint32_t tag) const { return answers_.at(tag); }
  const std::vector<LineRequest>& below() const { return below_; }
  /// Addresses written below, in order.
  std::vector<std::uint64_t> writes() const {
    std::vector<std::uint64_t> addresses;
    for (const LineRequest& request : below_) {
      if (request.kind == AccessKind::write) addresses.push_back(request.address);
    }
    return addresses;
  }
  std::uint64_t accepted(AccessKind kind) const { return total(counts().accepted, kind); }
  std::uint64_t hits(AccessKind kind) const { return total(counts().hits, kind); }

 private:
  void answer(const LineRequest& request, Ticks leaves) override { answers_[request.tag] = leaves; }
  void fetched(MemoryClient, Ticks) override {}
  void send_below(const LineRequest& request) override {
    below_.push_back(request);
    slice_.receive(LineAnswer{request.time + below_latency_, order_++, request.tag});
  }
  std::uint32_t line_bytes_;
  Ticks below_latency_;
  CacheSlice slice_;
  std::uint64_t sequence_ = 0, order_ = 0;
  std::map<std::uint32_t, Ticks> answers_;
  std::vector<LineRequest> below_;
};

/// One set of two ways; a cycle of 1, an answer 10 after its look-up.
CacheParameters two_ways() {
  CacheParameters parameters;
  parameters.name = "cache";
  parameters.bytes = 128;
  parameters.ways = 2;
  parameters.mshrs = 2;
  parameters.targets = 2;
  parameters.write_buffer = 1;
  parameters.cycle = 1;
  parameters.latency = 10;
  return parameters;
}

TEST(CacheSlice, TwoWaysFiveReads) {
  Harness cache(two_ways());
  // A miss, B miss, A hit, C miss (evicts B, the least recently used), B miss.
  const std::uint64_t a = 0, b = 64, c = 128;
  Ticks time = 0;
  for (const std::uint64_t address : {a, b, a, c, b}) cache.send(time += 1000, address);
  cache.run();
  EXPECT_EQ(cache.hits(AccessKind::read), 1u);
  EXPECT_EQ(total(cache.counts().primary_misses), 4u);
  EXPECT_EQ(cache.counts().clean_evictions, 2u);
  // Hit: 10 to the first byte, 1 for the line. Miss: 1 to leave, 100 below, then as a hit.
  EXPECT_EQ(cache.answered(2), 3000u + 11);
  EXPECT_EQ(cache.answered(0), 1000u + 1 + 100 + 11);
  EXPECT_TRUE(cache.slice().idle());
}

TEST(CacheSlice, ReadsOfALineUnderWayMerge) {
  Harness cache(two_ways());
  cache.send(0, 0);
  cache.send(5, 0);
  cache.run();
  EXPECT_EQ(cache.below().size(), 1u);
  EXPECT_EQ(total(cache.counts().merges), 1u);
  // Both wait for the one fill at 101; the data port gives one line a cycle.
  EXPECT_EQ(cache.answered(0), 112u);
  EXPECT_EQ(cache.answered(1), 113u);
}

TEST(CacheSlice, AFullMergeListHoldsUpTheSlice) {
  Harness cache(two_ways());
  for (Ticks time = 0; time < 3; ++time) cache.send(time, 0);
  cache.send(3, 64);
  cache.run();
  EXPECT_EQ(total(cache.counts().merges), 1u);
  EXPECT_EQ(cache.hits(AccessKind::read), 1u) << "the third comes after the fill";
  EXPECT_EQ(cache.counts().retries, 1u);
  EXPECT_EQ(cache.counts().stall_target_ticks, 101u - 2);
  EXPECT_GT(cache.answered(3), 200u) << "a request behind the stalled one waits too";
}

TEST(CacheSlice, NoMshrHoldsUpTheSlice) {
  CacheParameters parameters = two_ways();
  parameters.bytes = 256;
  parameters.mshrs = 1;
  Harness cache(parameters);
  cache.send(0, 0);
  cache.send(1, 64);
  cache.run();
  EXPECT_EQ(cache.counts().stall_mshr_ticks, 100u);
  EXPECT_EQ(cache.below().at(1).time, 102u);
}

TEST(CacheSlice, APartialWriteFetchesTheLineAFullOneDoesNot) {
  Harness cache(two_ways());
  cache.send(0, 0, AccessKind::write, half_line);
  cache.send(1000, 64, AccessKind::write);
  cache.run();
  ASSERT_EQ(cache.below().size(), 1u);
  EXPECT_EQ(cache.below()[0].kind, AccessKind::read);
  EXPECT_EQ(cache.below()[0].address, 0u);
  EXPECT_EQ(cache.counts().unfetched_allocations, 1u);
}

TEST(CacheSlice, MaskedPartialWritesAreWrittenBackInPart) {
  CacheParameters parameters = two_ways();
  parameters.fetch_partial_writes = false;
  Harness cache(parameters);
  cache.send(0, 0, AccessKind::write, half_line);
  cache.send(1000, 0, AccessKind::read, half_line);
  cache.send(2000, 0, AccessKind::read, half_line << 32);
  cache.send(3000, 64);
  cache.send(4000, 128);
  cache.run();
  EXPECT_EQ(cache.hits(AccessKind::read), 1u) << "the written half";
  EXPECT_EQ(cache.counts().fetches, 3u) << "the other half, and two lines";
  ASSERT_EQ(cache.writes().size(), 1u);
  EXPECT_EQ(cache.counts().partial_evictions, 1u);
  for (const LineRequest& request : cache.below()) {
    if (request.kind == AccessKind::write) {
      EXPECT_EQ(request.byte_mask, half_line);
    }
  }
}

TEST(CacheSlice, AFullWriteBufferHoldsUpTheSlice) {
  Harness cache(two_ways());
  cache.send(0, 0, AccessKind::write);
  cache.send(1, 64, AccessKind::write);
  cache.send(2, 128, AccessKind::write);
  cache.send(3, 192, AccessKind::write);
  cache.run();
  EXPECT_EQ(cache.writes(), (std::vector<std::uint64_t>{0, 64}));
  EXPECT_EQ(cache.counts().stall_write_buffer_ticks, 100u);
}

TEST(CacheSlice, MaintenanceWritesBackAndForgetsOnlyItsRange) {
  Harness cache(two_ways());
  cache.send(0, 0, AccessKind::write);
  cache.send(1, 64);
  cache.slice().receive(Maintenance{500, 0, 64});
  cache.send(1000, 0);
  cache.send(2000, 64);
  cache.run();
  EXPECT_EQ(cache.writes(), std::vector<std::uint64_t>{0});
  EXPECT_EQ(cache.counts().flushed, 1u);
  EXPECT_EQ(cache.hits(AccessKind::read), 1u) << "line 64 stayed";
}

TEST(CacheSlice, MaintenanceOfAnotherSlicesLineLeavesItsNeighbours) {
  CacheParameters parameters = two_ways();
  parameters.slices = 2;  // lines 0, 2, .. are of the first
  parameters.bytes *= 2;
  parameters.hashed = false;
  Harness cache(parameters);
  cache.send(0, 0, AccessKind::write);
  cache.slice().receive(Maintenance{500, 64, 128});
  cache.send(1000, 0);
  cache.run();
  EXPECT_EQ(cache.counts().flushed, 0u);
  EXPECT_EQ(cache.hits(AccessKind::read), 1u);
}

TEST(CacheSlice, AClientWithoutWaysPassesThrough) {
  CacheParameters parameters = two_ways();
  parameters.ways_for[index_of(MemoryClient::load_store)] = 0;
  Harness cache(parameters);
  cache.send(0, 0);
  cache.send(1000, 0);
  cache.send(2000, 0, AccessKind::write, half_line);
  cache.run();
  EXPECT_EQ(total(cache.counts().bypasses), 3u);
  EXPECT_EQ(cache.below().size(), 3u);
  EXPECT_EQ(cache.below()[2].byte_mask, half_line);
}

/// Two banks of 32 bytes a cycle: a line takes its bank for two cycles.
CacheParameters two_banks() {
  CacheParameters parameters = two_ways();
  parameters.bytes = 512;
  parameters.ways = 8;
  parameters.mshrs = 8;
  parameters.banks = 2;
  parameters.hashed = false;
  return parameters;
}

TEST(CacheSlice, LinesOfOneBankConflictLinesOfTwoDoNot) {
  for (const std::uint64_t stride : {std::uint64_t{64}, std::uint64_t{128}}) {
    Harness cache(two_banks());
    for (std::uint64_t i = 0; i < 4; ++i) cache.send(i * 1000, i * stride);
    for (std::uint64_t i = 0; i < 4; ++i) cache.send(10000, i * stride);
    cache.run();
    EXPECT_EQ(cache.hits(AccessKind::read), 4u);
    const bool conflict = stride == 128;
    EXPECT_EQ(cache.counts().bank_conflicts, conflict ? 3u : 0u);
    EXPECT_EQ(cache.counts().bank_conflict_ticks, conflict ? 3u : 0u);
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(cache.answered(4 + i), 10000u + (conflict ? 2 : 1) * i + 11) << stride;
    }
  }
}

TEST(CacheSlice, AFillOccupiesItsBank) {
  Harness cache(two_banks());
  cache.send(0, 0);
  cache.send(1000, 128);
  cache.send(1101, 0);
  cache.run();
  EXPECT_EQ(cache.counts().bank_conflicts, 1u)
      << "line 128 arrives at 1101 and takes the bank to 1103";
  EXPECT_EQ(cache.answered(2), 1103u + 11);
}

TEST(CacheSlice, WrittenDataOccupiesTheRequestPort) {
  CacheParameters parameters = two_ways();
  parameters.request_bytes_per_cycle = 16;
  Harness cache(parameters);
  cache.send(0, 0, AccessKind::write);
  cache.send(0, 64, AccessKind::write);
  cache.run();
  EXPECT_EQ(cache.counts().request_ticks, 8u);
  EXPECT_EQ(cache.counts().wait_ticks, 4u);
  EXPECT_EQ(cache.answered(1), 4u + 11);
}

TEST(CacheSlice, AWriteThroughCachePassesWritesAndAtomicsOn) {
  CacheParameters parameters = two_ways();
  parameters.write_through = true;
  parameters.write_buffer = 4;
  Harness cache(parameters);
  cache.send(0, 0);
  cache.send(1000, 0, AccessKind::write, half_line);
  cache.send(2000, 0);
  cache.send(3000, 64, AccessKind::write);
  cache.send(4000, 64);
  cache.send(5000, 0, AccessKind::atomic, half_line);
  cache.send(6000, 0);
  cache.run();
  EXPECT_EQ(cache.hits(AccessKind::read), 1u) << "the written line, before the atomic operation";
  EXPECT_EQ(total(cache.counts().bypasses), 3u);
  EXPECT_EQ(total(cache.counts().primary_misses), 3u);
  EXPECT_EQ(cache.counts().dirty_evictions, 0u);
  ASSERT_EQ(cache.below().size(), 6u);
  EXPECT_EQ(cache.below()[4].kind, AccessKind::atomic);
  EXPECT_EQ(cache.below()[4].byte_mask, half_line);
  EXPECT_TRUE(cache.slice().idle());
}

TEST(CacheSlice, APerfectCacheAlwaysHitsWithoutLimit) {
  CacheParameters parameters = two_ways();
  parameters.perfect = true;
  Harness cache(parameters);
  for (std::uint64_t i = 0; i < 100; ++i) {
    cache.send(5, i * 64, i % 2 == 0 ? AccessKind::read : AccessKind::write);
  }
  cache.run();
  EXPECT_EQ(total(cache.counts().hits), 100u);
  EXPECT_TRUE(cache.below().empty());
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(cache.answered(i), 5u + 11);
}

TEST(CacheSlice, EqualsAReferenceOnRandomStreams) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    CacheParameters parameters = two_ways();
    const std::uint64_t sets = 1 + seed % 5;
    parameters.ways = 1 + seed % 4;
    parameters.bytes = sets * parameters.ways * 64;
    Harness cache(parameters);
    test::ReferenceCache reference(sets, parameters.ways);
    std::uint64_t hits = 0;
    for (Ticks i = 0; i < 2000; ++i) {
      const std::uint64_t line = random() % (2 * sets * parameters.ways + 1);
      const bool write = random() % 3 == 0;
      cache.send(i * 1000, line * 64, write ? AccessKind::write : AccessKind::read);
      if (reference.access(line, line % sets, write)) ++hits;
    }
    cache.run();
    std::vector<std::uint64_t> written_back;
    for (const std::uint64_t line : reference.written_back()) written_back.push_back(line * 64);
    EXPECT_EQ(total(cache.counts().hits), hits) << "seed " << seed;
    EXPECT_EQ(cache.writes(), written_back) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fm
