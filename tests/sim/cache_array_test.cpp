// The lines of a cache against a brute-force reference, access for access.

#include "sim/memory/cache_array.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/memory/interleave.hpp"
#include "tests/sim/reference_cache.hpp"

namespace fm {
namespace {

struct Shape {
  std::uint64_t sets, ways, line;
};

/// One access to `number`; returns whether it hit.
bool access(CacheArray* array, std::uint64_t number, std::uint32_t ways) {
  const std::uint32_t place = array->find(number);
  if (place != CacheArray::none) {
    EXPECT_EQ(array->local(place), number);
    array->touch(place);
    return true;
  }
  const std::uint32_t victim = array->victim(number, ways);
  array->take(victim, number);
  array->validate(victim, 1);
  return false;
}

TEST(CacheArray, EqualsAReferenceAccessForAccess) {
  for (const Shape& shape : {Shape{1, 1, 64}, Shape{1, 7, 32}, Shape{3, 4, 64}, Shape{2, 16, 32},
                             Shape{128, 16, 64}, Shape{96, 12, 128}, Shape{5, 33, 256}}) {
    CacheArray array(shape.sets * shape.ways, static_cast<std::uint32_t>(shape.ways),
                     static_cast<std::uint32_t>(shape.line));
    test::ReferenceCache reference(shape.sets, shape.ways);
    std::mt19937_64 random(shape.sets * 100 + shape.ways);
    const std::uint64_t lines = 2 * shape.sets * shape.ways + 1;
    for (int i = 0; i < 30000; ++i) {
      // Half of the accesses to a third of the lines; some far away, where tags lose bits.
      std::uint64_t number = random() % (random() % 2 == 0 ? lines : lines / 3 + 1);
      if (random() % 8 == 0) number += (random() % 3) << 50;
      ASSERT_EQ(access(&array, number, static_cast<std::uint32_t>(shape.ways)),
                reference.access(number, number % shape.sets))
          << shape.sets << " sets of " << shape.ways << ", access " << i;
    }
  }
}

TEST(CacheArray, ALineBeingFetchedIsNoVictimAndKeepsItsPlaceInTheOrder) {
  CacheArray array(3, 3, 64);
  for (std::uint64_t number = 0; number < 3; ++number) access(&array, number, 3);
  const std::uint32_t first = array.find(0);
  array.start_fetch(first, 5);
  EXPECT_EQ(array.victim(9, 3), array.find(1));
  array.touch(first);
  array.finish_fetch(first);
  EXPECT_EQ(array.valid(first), full_line_mask(64));
  EXPECT_EQ(array.victim(9, 3), array.find(1)) << "line 0 was used during its fetch";
  for (std::uint64_t number = 0; number < 3; ++number) {
    array.start_fetch(array.find(number), static_cast<std::uint32_t>(number));
  }
  EXPECT_EQ(array.victim(9, 3), CacheArray::none);
}

TEST(CacheArray, AClientsWaysAreTheFirstOnes) {
  CacheArray array(4, 4, 64);
  for (std::uint64_t number = 0; number < 10; ++number) access(&array, number, 2);
  EXPECT_EQ(array.find(7), CacheArray::none);
  EXPECT_NE(array.find(8), CacheArray::none);
  EXPECT_NE(array.find(9), CacheArray::none);
  access(&array, 20, 4);
  access(&array, 21, 4);
  EXPECT_NE(array.find(8), CacheArray::none) << "two ways were still empty";
}

TEST(CacheArray, KnowsWhichLinesWereNotUsedSinceAMark) {
  CacheArray array(4, 4, 64);
  for (std::uint64_t number = 0; number < 3; ++number) access(&array, number, 4);
  EXPECT_EQ(array.lines_unused_since_mark(), 0u) << "nothing was marked";
  array.mark_uses();
  EXPECT_EQ(array.lines_unused_since_mark(), 3u);
  access(&array, 1, 4);
  EXPECT_EQ(array.lines_unused_since_mark(), 2u) << "line 1 was used";
  access(&array, 7, 4);
  EXPECT_EQ(array.lines_unused_since_mark(), 2u) << "line 7 took the place that was free";
  access(&array, 8, 4);
  EXPECT_EQ(array.lines_unused_since_mark(), 1u) << "line 8 replaced line 0";
  array.clear(array.find(2));
  EXPECT_EQ(array.lines_unused_since_mark(), 0u);
}

TEST(CacheArray, MasksOfPartlyWrittenLines) {
  CacheArray array(2, 2, 64);
  array.take(0, 4);
  EXPECT_EQ(array.valid(0), 0u);
  array.write(0, 0xff, MemoryClient::texture);
  EXPECT_EQ(array.valid(0), 0xffu);
  EXPECT_EQ(array.dirty_mask(0), 0xffu);
  EXPECT_EQ(array.owner(0), MemoryClient::texture);
  array.start_fetch(0, 0);
  array.finish_fetch(0);
  EXPECT_EQ(array.valid(0), full_line_mask(64));
  EXPECT_EQ(array.dirty_mask(0), 0xffu) << "the rest came from below";
  array.clear(0);
  EXPECT_FALSE(array.holds_line(0));
  EXPECT_FALSE(array.is_dirty(0));
}

TEST(Interleave, KnowsANumberByItsPartAndTheRest) {
  for (const std::uint32_t parts : {1u, 2u, 3u, 4u, 7u, 8u, 12u, 16u, 64u}) {
    for (const bool hashed : {false, true}) {
      const Interleave interleave(parts, hashed);
      std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
      for (std::uint64_t number = 0; number < 5000; ++number) {
        ASSERT_LT(interleave.part(number), parts);
        ASSERT_TRUE(seen.emplace(interleave.part(number), interleave.local(number)).second);
        ASSERT_EQ(interleave.number(interleave.local(number), interleave.part(number)), number);
      }
    }
  }
}

TEST(Interleave, HashedPowerOfTwoStridesUseAllParts) {
  for (const std::uint32_t parts : {2u, 4u, 8u, 16u, 32u, 64u}) {
    const Interleave plain(parts, false), hashed(parts, true);
    for (std::uint32_t shift = 6; shift < 30; ++shift) {
      std::set<std::uint32_t> used, used_plain;
      for (std::uint64_t i = 0; i < 4 * parts; ++i) {
        used.insert(hashed.part(i << shift));
        used_plain.insert(plain.part(i << shift));
      }
      EXPECT_EQ(used.size(), parts) << parts << " parts, stride 2^" << shift;
      EXPECT_EQ(used_plain.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace fm
