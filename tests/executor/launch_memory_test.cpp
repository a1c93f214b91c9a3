#include "executor/launch_memory.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

PlanLaunch product(const std::string& from, const std::string& to) {
  PlanLaunch launch;
  launch.arguments = {TensorArgument{from, false}, TensorArgument{to, true}};
  return launch;
}

TEST(Repetitions, LastSixteenMillisecondsTogether) {
  OpenClDevice gpu;
  gpu.type = CL_DEVICE_TYPE_GPU;
  EXPECT_EQ(repetitions_of(product("a", "b"), {1e6, false}, gpu), 16u);
  EXPECT_EQ(repetitions_of(product("a", "b"), {3e7, false}, gpu), 1u);
  EXPECT_EQ(repetitions_of(product("a", "b"), {100, false}, gpu), 1000u);
}

TEST(Repetitions, AreForLaunchesThatComputeTheSameEachTime) {
  OpenClDevice gpu;
  gpu.type = CL_DEVICE_TYPE_GPU;
  EXPECT_EQ(repetitions_of(product("a", "a"), {1e6, false}, gpu), 1u);
}

TEST(Repetitions, AreForClocksThatAreNotExact) {
  OpenClDevice cpu;
  cpu.type = CL_DEVICE_TYPE_CPU;
  EXPECT_EQ(repetitions_of(product("a", "b"), {1e6, false}, cpu), 1u);
  EXPECT_EQ(repetitions_of(product("a", "b"), {1e6, true}, cpu), 16u);
}

}  // namespace
}  // namespace fm
