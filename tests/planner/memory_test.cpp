// Pools, dependencies and claims: small exact cases, and laws that hold for any plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "paths.hpp"
#include "planner/activation_memory.hpp"
#include "planner/dependencies.hpp"
#include "planner/streaming.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PlanTensor activation(const std::string& id, std::int64_t elements,
                      Placement placement = Placement::buffer) {
  PlanTensor tensor;
  tensor.id = tensor.name = id;
  tensor.shape = {elements};
  tensor.placement = placement;
  tensor.bytes = storage_bytes(tensor.layout, tensor.dtype, tensor.shape);
  return tensor;
}

PlanLaunch launch(const std::string& id, const std::vector<std::string>& reads,
                  const std::string& writes) {
  PlanLaunch result;
  result.id = id;
  for (const std::string& tensor : reads) result.arguments.push_back(TensorArgument{tensor, false});
  result.arguments.push_back(TensorArgument{writes, true});
  return result;
}

/// in -> a -> b -> c -> out, all activations of `elements`.
Plan chain(Placement placement, std::int64_t elements) {
  Plan plan;
  for (const char* id : {"a", "b", "c", "d"})
    plan.tensors.push_back(activation(id, elements, placement));
  plan.launches = {launch("L0", {}, "a"), launch("L1", {"a"}, "b"), launch("L2", {"b"}, "c"),
                   launch("L3", {"c"}, "d")};
  set_uses(&plan);
  assign_pools(&plan);
  return plan;
}

TEST(ActivationMemory, AChainNeedsTwoOfItsTensors) {
  const Plan plan = chain(Placement::buffer, 256);
  ASSERT_EQ(plan.pools.size(), 1u);
  EXPECT_EQ(plan.pools[0].bytes, Bytes(2 * 512));
  EXPECT_EQ(plan.tensor("a").offset, plan.tensor("c").offset);
  EXPECT_EQ(plan.tensor("b").offset, plan.tensor("d").offset);
  EXPECT_NE(plan.tensor("a").offset, plan.tensor("b").offset);
  EXPECT_EQ(plan.tensor("b").first_use, "L1");
  EXPECT_EQ(plan.tensor("b").last_use, "L2");
}

TEST(ActivationMemory, ImagesOfOneExtentShareSlots) {
  const Plan plan = chain(Placement::image2d, 256);
  ASSERT_EQ(plan.pools.size(), 2u);
  EXPECT_EQ(plan.tensor("a").pool, plan.tensor("c").pool);
  EXPECT_EQ(plan.tensor("b").pool, plan.tensor("d").pool);
  EXPECT_EQ(plan.pools[0].extent, (GridExtent{64, 1}));
}

TEST(ActivationMemory, SmallerImagesLieInLargerOnes) {
  Plan plan;
  plan.tensors = {activation("a", 64, Placement::image2d), activation("b", 128, Placement::image2d),
                  activation("c", 256, Placement::image2d)};
  plan.launches = {launch("L0", {}, "a"), launch("L1", {"a"}, "b"), launch("L2", {"b"}, "c")};
  set_uses(&plan);
  assign_pools(&plan);
  EXPECT_EQ(plan.pools.size(), 2u);
  EXPECT_EQ(plan.tensor("a").pool, plan.tensor("c").pool);
  EXPECT_NE(plan.tensor("a").pool, plan.tensor("b").pool);
}

TEST(ActivationMemory, AnImageGrowsOnlyWhereThatIsLessThanAnother) {
  Plan plan;
  plan.tensors = {activation("wide", 4096, Placement::image2d),
                  activation("x", 4, Placement::image2d),
                  activation("tall", 4, Placement::image2d)};
  plan.tensors[2].shape = {1000, 4};
  plan.tensors[2].bytes = storage_bytes(plan.tensors[2].layout, DataType::f16, {1000, 4});
  plan.launches = {launch("L0", {}, "wide"), launch("L1", {"wide"}, "x"),
                   launch("L2", {"x"}, "tall")};
  set_uses(&plan);
  assign_pools(&plan);
  EXPECT_NE(plan.tensor("wide").pool, plan.tensor("tall").pool);
}

/// Two tensors alive at once never share a byte; the pool is no larger than all of them.
TEST(ActivationMemory, RandomLifetimesNeverCollide) {
  std::mt19937 generator(3);
  for (int trial = 0; trial < 50; ++trial) {
    Plan plan;
    const int count = 30;
    std::vector<std::vector<std::string>> reads(count + 8);
    for (int i = 0; i < count; ++i) {
      plan.tensors.push_back(activation("t" + std::to_string(i), 1 + generator() % 3000));
      for (unsigned r = 0; r < 1 + generator() % 3; ++r)
        reads[i + 1 + generator() % 7].push_back("t" + std::to_string(i));
    }
    for (int i = 0; i < count + 8; ++i) {
      PlanLaunch step = launch("L" + std::to_string(i), reads[static_cast<std::size_t>(i)], "t0");
      step.arguments.pop_back();
      if (i < count) step.arguments.push_back(TensorArgument{"t" + std::to_string(i), true});
      plan.launches.push_back(step);
    }
    set_uses(&plan);
    assign_pools(&plan);
    Bytes total;
    for (const PlanTensor& a : plan.tensors) {
      total += round_up(a.bytes, Bytes(512));
      EXPECT_EQ(a.offset % Bytes(512), Bytes(0));
      for (const PlanTensor& b : plan.tensors) {
        if (a.id == b.id) continue;
        const bool together = position_of(plan, a.first_use) <= position_of(plan, b.last_use) &&
                              position_of(plan, b.first_use) <= position_of(plan, a.last_use);
        const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        EXPECT_TRUE(!together || apart) << a.id << ' ' << b.id;
      }
    }
    EXPECT_LE(plan.pools.at(0).bytes, total);
    EXPECT_LT(plan.pools.at(0).bytes.count(), total.count() * 3 / 4);  // lifetimes are short
  }
}

TEST(Dependencies, ReadersWaitForWritersAndReusedBytesForTheirReaders) {
  Plan plan = chain(Placement::buffer, 256);
  set_dependencies(&plan);
  EXPECT_THAT(plan.launch("L0").depends, IsEmpty());
  EXPECT_THAT(plan.launch("L1").depends, ElementsAre("L0"));
  // c takes a's bytes: L2 follows L1, which read a and wrote b; one edge says both.
  EXPECT_THAT(plan.launch("L2").depends, ElementsAre("L1"));
}

TEST(Dependencies, BranchesStayIndependent) {
  Plan plan;
  for (const char* id : {"a", "b", "c", "d"}) plan.tensors.push_back(activation(id, 256));
  plan.launches = {launch("L0", {}, "a"), launch("L1", {"a"}, "b"), launch("L2", {"a"}, "c"),
                   launch("L3", {"b", "c"}, "d")};
  set_uses(&plan);
  assign_pools(&plan);
  set_dependencies(&plan);
  EXPECT_THAT(plan.launch("L2").depends, ElementsAre("L0"));
  EXPECT_THAT(plan.launch("L3").depends, ElementsAre("L1", "L2"));
}

/// In any order that respects `depends`, every conflicting pair keeps its order: closure over all
/// pairs.
void expect_conflicts_ordered(const Plan& plan) {
  const std::size_t count = plan.launches.size();
  std::vector<std::set<std::size_t>> before(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::string& id : plan.launches[i].depends) {
      const std::size_t d = position_of(plan, id);
      before[i].insert(d);
      before[i].insert(before[d].begin(), before[d].end());
    }
  }
  const auto touched = [&](std::size_t i) {
    std::vector<std::pair<const PlanTensor*, bool>> result;
    for (const LaunchArgument& argument : plan.launches[i].arguments) {
      if (const auto* used = std::get_if<TensorArgument>(&argument)) {
        result.push_back({&plan.tensor(used->tensor), used->write});
      }
    }
    return result;
  };
  for (std::size_t j = 0; j < count; ++j) {
    for (const auto& [y, y_writes] : touched(j)) {
      for (std::size_t i = 0; i < j; ++i) {
        for (const auto& [x, x_writes] : touched(i)) {
          if ((!x_writes && !y_writes) || x->pool.empty() || x->pool != y->pool) continue;
          const bool apart =
              x->placement == Placement::buffer &&
              (x->offset + x->bytes <= y->offset || y->offset + y->bytes <= x->offset);
          if (apart) continue;
          EXPECT_EQ(before[j].count(i), 1u)
              << plan.launches[j].id << " must follow " << plan.launches[i].id << " (" << x->id
              << ", " << y->id << ')';
        }
      }
    }
  }
}

TEST(Dependencies, EveryConflictOfRealPlansIsOrdered) {
  for (PlacementPolicy placement : {PlacementPolicy::buffer, PlacementPolicy::image2d}) {
    PlanOptions options;
    options.placement = placement;
    options.policy = StreamingPolicy::always_next;
    expect_conflicts_ordered(make_plan(FM_MODELS "/resnet50.onnx", test_config(), options));
    options.bindings.inputs["x"] = {1, 3, 96, 96};
    expect_conflicts_ordered(
        make_plan(FM_TEST_DATA "/ch_PP-OCRv4_det_infer.onnx", test_config(), options));
  }
}

}  // namespace
}  // namespace fm
