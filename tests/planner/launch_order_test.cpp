// Launch order against the peak of live activations.
#include "planner/launch_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace fm {
namespace {

using ::testing::ElementsAre;

Plan plan_with(const std::vector<std::uint64_t>& bytes) {
  Plan plan;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    PlanTensor tensor;
    tensor.id = "t" + std::to_string(i);
    tensor.bytes = Bytes(bytes[i]);
    plan.tensors.push_back(tensor);
  }
  return plan;
}

void launch(const std::vector<std::size_t>& read, const std::vector<std::size_t>& written,
            Plan* plan) {
  PlanLaunch launch;
  launch.id = "L" + std::to_string(plan->launches.size());
  for (const std::size_t t : read) {
    launch.arguments.emplace_back(TensorArgument{plan->tensors[t].id, false});
  }
  for (const std::size_t t : written) {
    launch.arguments.emplace_back(TensorArgument{plan->tensors[t].id, true});
  }
  plan->launches.push_back(launch);
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> result;
  for (const PlanLaunch& each : plan.launches) result.push_back(each.id);
  return result;
}

TEST(LaunchOrder, FinishesOneBranchBeforeTheNext) {
  // Two branches from t0: each a large tensor reduced to a small one; then both joined.
  Plan plan = plan_with({10, 100, 100, 1, 1, 1});
  plan.tensors[0].role = TensorRole::input;
  plan.tensors[5].role = TensorRole::output;
  launch({0}, {1}, &plan);
  launch({0}, {2}, &plan);
  launch({1}, {3}, &plan);
  launch({2}, {4}, &plan);
  launch({3, 4}, {5}, &plan);
  EXPECT_EQ(live_peak(plan), Bytes(201));  // both large ones and a small one
  EXPECT_TRUE(reorder_launches(&plan));
  EXPECT_EQ(live_peak(plan), Bytes(102));
  EXPECT_THAT(ids(plan), ElementsAre("L0", "L2", "L1", "L3", "L4"));
  EXPECT_FALSE(reorder_launches(&plan));
}

TEST(LaunchOrder, KeepsWritersOfATensorAndItsReadersInOrder) {
  Plan plan = plan_with({8, 50, 50, 4});
  plan.tensors[0].role = TensorRole::input;
  launch({0}, {1}, &plan);
  launch({1}, {3}, &plan);  // first part of t3
  launch({0}, {2}, &plan);
  launch({2}, {3}, &plan);  // second part
  launch({3}, {1}, &plan);
  reorder_launches(&plan);
  const std::vector<std::string> order = ids(plan);
  const auto at = [&](const char* id) { return std::find(order.begin(), order.end(), id); };
  EXPECT_LT(at("L1"), at("L3"));
  EXPECT_LT(at("L3"), at("L4"));
}

TEST(LaunchOrder, IsALegalOrderOfNoHigherPeakForRandomGraphs) {
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::uint64_t> bytes;
    for (int t = 0; t < 20; ++t) bytes.push_back(1 + random() % 50);
    Plan plan = plan_with(bytes);
    for (std::size_t t = 1; t < 20; ++t) {
      std::vector<std::size_t> read{random() % t};
      if (random() % 2 == 0) read.push_back(random() % t);
      launch(read, {t}, &plan);
    }
    const Bytes before = live_peak(plan);
    reorder_launches(&plan);
    EXPECT_LE(live_peak(plan), before);
    std::set<std::string> written{"t0"};
    for (const PlanLaunch& each : plan.launches) {
      for (const LaunchArgument& argument : each.arguments) {
        const auto& tensor = std::get<TensorArgument>(argument);
        if (tensor.write) {
          written.insert(tensor.tensor);
        } else {
          EXPECT_EQ(written.count(tensor.tensor), 1u) << i << " " << each.id;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fm
