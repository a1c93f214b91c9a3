#include "executor/pool_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Plan plan_of(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
  Plan plan;
  plan.pools.push_back({"activations", Placement::buffer, Bytes(0), {}, DataType::f16});
  for (const auto& [offset, bytes] : ranges) {
    PlanTensor& tensor = plan.tensors.emplace_back();
    tensor.id = "t" + std::to_string(plan.tensors.size());
    tensor.name = "value";
    tensor.pool = "activations";
    tensor.offset = Bytes(offset);
    tensor.bytes = Bytes(bytes);
    plan.pools[0].bytes = std::max(plan.pools[0].bytes, Bytes(offset + bytes));
  }
  return plan;
}

TEST(PoolParts, OneBufferWhereThePoolFits) {
  const Plan plan = plan_of({{0, 512}, {512, 512}});
  const std::vector<PoolPart> parts = parts_of(plan, plan.pools[0], Bytes(1024));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].offset, Bytes(0));
  EXPECT_EQ(parts[0].bytes, Bytes(1024));
  EXPECT_EQ(parts[0].tensors.size(), 2u);
}

TEST(PoolParts, ATensorAcrossTheCutGoesToTheNextBuffer) {
  const Plan plan = plan_of({{0, 512}, {256, 512}, {768, 256}});
  const std::vector<PoolPart> parts = parts_of(plan, plan.pools[0], Bytes(512));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].offset, Bytes(256));
  EXPECT_EQ(parts[1].bytes, Bytes(512));
  EXPECT_EQ(parts[2].offset, Bytes(768));
}

TEST(PoolParts, NamesTheTensorThatIsTooLargeAlone) {
  const Plan plan = plan_of({{0, 512}, {512, 2048}});
  EXPECT_THAT([&] { parts_of(plan, plan.pools[0], Bytes(1024)); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("tensor t2 (value)"), HasSubstr("2048"),
                                             HasSubstr("1024"), HasSubstr("--storage f16"))));
}

TEST(PoolParts, EveryTensorLiesWholeInOneBufferWithinTheLimit) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    ranges.reserve(30);
    for (int i = 0; i < 30; ++i) ranges.push_back({128 * (random() % 100), 1 + random() % 2000});
    const Plan plan = plan_of(ranges);
    const Bytes limit(2000 + random() % 4000);
    std::map<std::string, int> places;
    for (const PoolPart& part : parts_of(plan, plan.pools[0], limit)) {
      EXPECT_LE(part.bytes, limit);
      EXPECT_EQ(part.offset % Bytes(128), Bytes(0));
      for (const PlanTensor* tensor : part.tensors) {
        ++places[tensor->id];
        EXPECT_GE(tensor->offset, part.offset);
        EXPECT_LE(tensor->offset + tensor->bytes, part.offset + part.bytes);
      }
    }
    EXPECT_EQ(places.size(), plan.tensors.size());
    for (const auto& [tensor, count] : places) EXPECT_EQ(count, 1) << tensor;
  }
}

}  // namespace
}  // namespace fm
