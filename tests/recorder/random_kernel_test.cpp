// Kernels that no one wrote: recorded from chosen groups, expanded, and compared over all their
// work-groups.
#include "tests/recorder/random_kernel.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/recorder/recorded_device.hpp"

namespace fm {
namespace {

trace::AccessProgram check(const RandomKernel& random) {
  RecordedDevice& device = RecordedDevice::get();
  const trace::AccessProgram program =
      record_accesses(device.context, device.cache, random.kernel, random.index);
  EXPECT_EQ(program.groups_total(), group_total(program));
  EXPECT_GT(program.groups_checked(), 0u);
  const std::uint64_t compared = expect_equal_over_all_groups(program, random.kernel, random.index);
  EXPECT_GT(compared, group_total(program)) << "a kernel that accesses next to nothing";
  if (testing::Test::HasFailure()) {
    std::cerr << random.kernel.source.substr(access_macros().size()) << program.DebugString();
  }
  return program;
}

class RandomKernelTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomKernelTest, ExpandsEqualOverAllWorkGroups) {
  const trace::AccessProgram program = check(RandomKernelGenerator(GetParam(), {}).generate());
  EXPECT_EQ(program.tables_size(), 0) << "every operand is linear in variables the macros name";
}

TEST_P(RandomKernelTest, PlainIndexArithmeticExpandsEqual) {
  RandomKernelOptions options;
  options.plain_arithmetic = true;
  check(RandomKernelGenerator(1000 + GetParam(), options).generate());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernelTest, testing::Range(1u, 10u));

TEST(RandomKernelFallback, UnexplainedIndicesAreKeptAsRecorded) {
  RandomKernelOptions options;
  options.float_indices = true;
  int tables = 0;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    tables += check(RandomKernelGenerator(seed, options).generate()).tables_size();
  }
  EXPECT_GT(tables, 0);
}

}  // namespace
}  // namespace fm
