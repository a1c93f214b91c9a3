// The catalogue's kernels at small, awkward sizes: recorded from chosen groups, expanded, compared
// with the logs of all their work-groups, and held against the plain build (plain_witness.hpp).
#include "kernels/catalogue.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/recorder/plain_witness.hpp"
#include "tests/recorder/recorded_device.hpp"
#include "tests/recorder/small_launches.hpp"

namespace fm {
namespace {

/// Records, expands, compares.
trace::AccessProgram check(const Plan& plan, const SmallLaunch& small) {
  const RecordingKernel kernel = recording_kernel(plan, small.launch);
  RecordedDevice& device = RecordedDevice::get();
  trace::AccessProgram program = record_accesses(device.context, device.cache, kernel, small.index);
  EXPECT_GT(expect_equal_over_all_groups(program, kernel, small.index), 0u);
  EXPECT_EQ(program.key(), program_key(plan, small.launch));
  PlainWitness(plan, small.launch, program, small.index).expect_plain_build_agrees();
  return program;
}

class CatalogueTest : public testing::TestWithParam<std::tuple<SmallCase, Placement>> {};

TEST_P(CatalogueTest, EveryAccessIsRecorded) {
  const auto& [small, placement] = GetParam();
  SmallPlan plan(placement);
  small.add(plan);
  for (const SmallLaunch& launch : plan.launches()) {
    const trace::AccessProgram program = check(plan.plan(), launch);
    // Where a resize reads is computed in floating point. Loaded indices are variables.
    if (launch.launch.kernel != "resize") {
      EXPECT_EQ(program.tables_size(), 0);
    }
    const bool tiles = small.name == std::string("MatmulWithLocalMemory");
    if (tiles || launch.launch.kernel == "attention") {
      EXPECT_GT(program.local_arrays_size(), 0);
    }
  }
}

TEST(PlainWitness, NoticesAReadOrWriteInAnotherPlace) {
  SmallPlan small(Placement::buffer);
  const PlanTensor& x = small.tensor({5, 12});
  const PlanTensor& y = small.tensor({5, 12});
  small.add(build_unary(x, y, {}));
  const PlanLaunch& launch = small.launches().front().launch;
  const trace::AccessProgram right = check(small.plan(), small.launches().front());
  for (int site = 0; site < right.sites_size(); ++site) {
    trace::AccessProgram wrong = right;
    trace::Expression* offset = wrong.mutable_sites(site)->mutable_x();
    for (trace::LinearTerm& term : *offset->mutable_terms()) term.set_coefficient(0);
    const IndexBuffers none;
    EXPECT_NONFATAL_FAILURE(
        PlainWitness(small.plan(), launch, wrong, none).expect_plain_build_agrees(), "the trace");
  }
}

std::string case_name(const testing::TestParamInfo<CatalogueTest::ParamType>& tested) {
  const auto& [small, placement] = tested.param;
  return std::string(small.name) + (placement == Placement::buffer ? "Buffer" : "Image");
}

INSTANTIATE_TEST_SUITE_P(Launches, CatalogueTest,
                         testing::Combine(testing::ValuesIn(small_cases()),
                                          testing::Values(Placement::buffer, Placement::image2d)),
                         case_name);

}  // namespace
}  // namespace fm
