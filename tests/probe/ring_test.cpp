// Rings lead where their kernels' results are taken from.
#include "executor/probe/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fm {
namespace {

/// Texels visited from 0 until one comes again.
std::vector<std::int64_t> walk(const std::vector<float>& ring) {
  std::vector<std::int64_t> path{0};
  std::set<std::int64_t> seen{0};
  for (;;) {
    const auto next = static_cast<std::int64_t>(ring[static_cast<std::size_t>(path.back()) * 4]);
    if (!seen.insert(next).second) return path;
    path.push_back(next);
  }
}

TEST(ChaseRing, SequentialGoesByStrides) {
  EXPECT_EQ(walk(chase_ring(12, 4, RingOrder::sequential)), (std::vector<std::int64_t>{0, 4, 8}));
}

TEST(ChaseRing, ShuffledVisitsEveryMultipleOnceAndComesBack) {
  for (const std::int64_t stride : {1, 4, 260}) {
    const std::int64_t elements = 64 * stride;
    const std::vector<float> ring = chase_ring(elements, stride, RingOrder::shuffled);
    const std::vector<std::int64_t> path = walk(ring);
    EXPECT_EQ(static_cast<std::int64_t>(path.size()), (elements - 1) / stride + 1);
    for (const std::int64_t at : path) EXPECT_EQ(at % stride, 0);
    EXPECT_EQ(ring[static_cast<std::size_t>(path.back()) * 4], 0);
    EXPECT_FALSE(std::is_sorted(path.begin(), path.end()));
  }
}

TEST(ChaseRing, OneElementLeadsToItself) {
  EXPECT_EQ(walk(chase_ring(1, 4, RingOrder::shuffled)), (std::vector<std::int64_t>{0}));
}

TEST(BlockRing, FinishesABlockBeforeTheNext) {
  const std::vector<float> ring = block_ring(4, 2, 2);
  // From the first block's last texel to the second block's first.
  EXPECT_EQ(ring[(1 * 4 + 1) * 4], 2);
  EXPECT_EQ(ring[(1 * 4 + 1) * 4 + 1], 0);
  // From the last texel to the first.
  EXPECT_EQ(ring[(3 * 4 + 3) * 4], 0);
  EXPECT_EQ(ring[(3 * 4 + 3) * 4 + 1], 0);
}

}  // namespace
}  // namespace fm
