// Shared TLB and page walks: exact walks, a reference of lists, limits of walkers.

#include "sim/memory/mmu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "sim/replay/kernel_context.hpp"
#include "tests/sim/reference_cache.hpp"

namespace fm {
namespace {

constexpr Ticks period = 1000, memory_latency = 100 * period, link = 10 * period;

/// Answers every read after `memory_latency`, and remembers it.
class Tables : public MemoryLevel {
 public:
  std::uint16_t attach(LineSink* sink, Ticks) override {
    sink_ = sink;
    return 0;
  }
  void receive(const LineRequest& request) override {
    reads.push_back(request);
    sink_->answer({request.time + memory_latency, reads.size(), request.tag});
  }
  std::uint32_t line_bytes() const override { return 64; }
  std::string level_name() const override { return "tables"; }
  std::vector<LineRequest> reads;

 private:
  LineSink* sink_ = nullptr;
};

/// Asks for pages at given times.
class Asker : public LineSink {
 public:
  Asker(const MmuParameters& parameters, const std::vector<std::pair<Ticks, std::uint64_t>>& pages)
      : mmu("mmu", Clock{period, period}, parameters, &tables, link),
        source_(mmu.attach(this, link)) {
    for (const auto& [time, page] : pages) {
      TranslationRequest request;
      request.time = time;
      request.page = page;
      request.sequence = request.tag = static_cast<std::uint32_t>(asked_++);
      request.source = source_;
      mmu.receive(request);
    }
    context_.run();
    EXPECT_TRUE(mmu.idle());
    std::vector<Wait> waits;
    mmu.append_waits(&waits);
    EXPECT_TRUE(waits.empty());
    std::vector<ResultCheck> checks;
    mmu.append_checks(&checks);
    for (const ResultCheck& check : checks) EXPECT_TRUE(check.holds()) << check.law;
    EXPECT_EQ(answered.size(), pages.size());
  }
  void answer(const LineAnswer& answer) override { answered[answer.tag] = answer.time; }

 private:
  KernelContext context_;

 public:
  Tables tables;
  Mmu mmu;
  std::map<std::uint32_t, Ticks> answered;

 private:
  std::uint16_t source_;
  std::uint64_t asked_ = 0;
};

constexpr Ticks read_time = link + memory_latency;

TEST(Mmu, AWalkReadsOneEntryALevelAndTheWalkCacheSavesTheUpperOnes) {
  const Asker mmu({}, {{0, 5}, {period * 10000, 6}, {period * 20000, 5}});
  EXPECT_EQ(mmu.answered.at(0), 4 * read_time + link);
  EXPECT_EQ(mmu.answered.at(1), period * 10000 + read_time + link) << "only the last level";
  EXPECT_EQ(mmu.answered.at(2), period * 20000 + link) << "a hit";
  ASSERT_EQ(mmu.tables.reads.size(), 5u);
  EXPECT_EQ(mmu.tables.reads[4].address - mmu.tables.reads[3].address, 8u) << "entries of 8 bytes";
  EXPECT_EQ(mmu.mmu.counts().upper_reads_saved, 3u);
}

TEST(Mmu, PageSizesDecideWhichTableEntriesAreRead) {
  for (const auto& [page_bytes, stride, levels] :
       std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>>{
           {4096, 8, 4}, {65536, 128, 4}, {2 << 20, 8, 3}}) {
    MmuParameters parameters;
    parameters.page_bytes = page_bytes;
    parameters.levels = levels;
    const Asker mmu(parameters, {{0, 0}, {period * 10000, 1}});
    ASSERT_EQ(mmu.tables.reads.size(), levels + 1u);
    EXPECT_EQ(mmu.tables.reads[levels].address - mmu.tables.reads[levels - 1].address, stride);
  }
}

TEST(Mmu, WalksOfOnePageMerge) {
  const Asker mmu({}, {{0, 5}, {period, 5}, {2 * period, 5}});
  EXPECT_EQ(mmu.mmu.counts().walks, 1u);
  EXPECT_EQ(mmu.mmu.counts().merges, 2u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(mmu.answered.at(i), 4 * read_time + link);
}

TEST(Mmu, WalksWaitForAWalker) {
  MmuParameters parameters;
  parameters.levels = 1;
  parameters.walkers = 2;
  const Asker mmu(parameters, {{0, 1}, {0, 2}, {0, 3}});
  EXPECT_EQ(mmu.answered.at(0), read_time + link);
  EXPECT_EQ(mmu.answered.at(1), period + read_time + link) << "one look-up a cycle";
  EXPECT_EQ(mmu.answered.at(2), 2 * read_time + link);
  EXPECT_EQ(mmu.mmu.counts().queued_ticks, read_time - 2 * period);
}

TEST(Mmu, HitsAndWalksEqualAReferenceAccessForAccess) {
  struct Shape {
    std::uint32_t sets, ways;
  };
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 16}, Shape{3, 4}, Shape{7, 2}, Shape{16, 8}}) {
    MmuParameters parameters;
    parameters.entries = shape.sets * shape.ways;
    parameters.ways = shape.ways;
    parameters.walk_cache_entries = 5;
    std::mt19937_64 random(shape.sets * 10 + shape.ways);
    test::ReferenceCache reference(shape.sets, shape.ways);
    // Each upper entry by its table and the page range it covers, all in one set.
    test::ReferenceCache upper(1, parameters.walk_cache_entries);
    std::vector<std::pair<Ticks, std::uint64_t>> pages;
    std::uint64_t hits = 0, reads = 0;
    for (Ticks i = 0; i < 4000; ++i) {
      const std::uint64_t page =
          random() % (2 * parameters.entries) * (random() % 2 == 0 ? 1 : 512);
      pages.emplace_back(i * 1000 * period, page);
      if (reference.access(page, page % shape.sets)) {
        ++hits;
        continue;
      }
      // A walk begins below the lowest entry that is kept; what it reads above is kept from then
      // on.
      std::uint32_t first = 1;
      for (std::uint32_t level = 4; level > 1 && first == 1; --level) {
        const std::uint64_t key = std::uint64_t{level} << 56 | page >> (9 * (5 - level));
        test::ReferenceCache probe = upper;
        if (!probe.access(key, 0)) continue;
        upper.access(key, 0);
        first = level;
      }
      for (std::uint32_t level = first; level < 4; ++level) {
        upper.access(std::uint64_t{level + 1} << 56 | page >> (9 * (4 - level)), 0);
      }
      reads += 5 - first;
    }
    const Asker mmu(parameters, pages);
    EXPECT_EQ(mmu.mmu.counts().hits, hits) << shape.sets << " x " << shape.ways;
    EXPECT_EQ(mmu.mmu.counts().walks, pages.size() - hits);
    EXPECT_EQ(mmu.tables.reads.size(), reads);
  }
}

TEST(Tlb, EqualsAReferenceAccessForAccess) {
  for (const std::uint32_t sets : {1u, 2u, 5u, 48u}) {
    for (const std::uint32_t ways : {1u, 3u, 8u}) {
      Tlb tlb(sets * ways, ways);
      test::ReferenceCache reference(sets, ways);
      std::mt19937_64 random(sets * 100 + ways);
      for (int i = 0; i < 20000; ++i) {
        const std::uint64_t page = random() % (3 * sets * ways);
        const bool hit = tlb.find(page);
        if (!hit) tlb.insert(page);
        ASSERT_EQ(hit, reference.access(page, page % sets)) << sets << " x " << ways << ": " << i;
      }
    }
  }
}

}  // namespace
}  // namespace fm
