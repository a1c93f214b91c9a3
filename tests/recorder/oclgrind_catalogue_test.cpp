// An independent witness of the executor's recording: Oclgrind runs the kernels as they are, and
// every work-item must make the accesses that the executor's trace expands to.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/catalogue_entries.hpp"
#include "tests/recorder/oclgrind_witness.hpp"
#include "tests/recorder/recorded_device.hpp"
#include "tests/recorder/small_launches.hpp"

namespace fm {
namespace {

using Storage = std::pair<Placement, DataType>;
class OclgrindCatalogueTest : public testing::TestWithParam<std::tuple<SmallCase, Storage>> {};

// ---- known differences between what is recorded and what Oclgrind sees -------------------------
//
// 1. Wide reads. Kernels that take several texels with one vload16 say so texel by texel.
// 2. No half arithmetic, no half constants, no read_imageh in Oclgrind. Kernels do without where
//    the device has none, as PoCL, on which the tests record.
//
// None are: reads of images beyond their edges, of which Oclgrind loads nothing (coordinates are
// taken from the call), the four loads of a texel's channels (they are one access), and the stores
// that it makes again for each element of a vector (they belong to the vector's).

bool reads_wide(const std::string& name) {
  return name == "WideMatmul" || name == "WideConvolutions";
}

/// Texels of what reads several at once.
std::vector<test::SeenAccess> texel_by_texel(const std::vector<test::SeenAccess>& seen,
                                             std::uint32_t texel) {
  std::vector<test::SeenAccess> split;
  for (test::SeenAccess access : seen) {
    if (access.space != trace::GLOBAL || access.write || access.bytes % texel != 0) {
      split.push_back(access);
      continue;
    }
    for (std::uint32_t left = access.bytes; left > 0; left -= texel, access.x += texel) {
      split.push_back(access);
      split.back().bytes = texel;
    }
  }
  return split;
}

/// Every access of every work-item in order.
void expect_equal(const trace::AccessProgram& recorded, const IndexValues& index,
                  const trace::AccessProgram& seen, std::uint32_t wide_texel) {
  ASSERT_EQ(group_total(recorded), group_total(seen));
  ASSERT_EQ(items_per_group(recorded), items_per_group(seen));
  const IndexValues none;
  const AccessExpander ours(recorded, index), oclgrinds(seen, none);
  for (std::uint64_t group = 0; group < group_total(recorded); ++group) {
    for (std::uint32_t item = 0; item < items_per_group(recorded); ++item) {
      auto expected = test::accesses_of(oclgrinds, seen, group_at(seen, group), item);
      if (wide_texel != 0) expected = texel_by_texel(expected, wide_texel);
      const auto accesses = test::accesses_of(ours, recorded, group_at(recorded, group), item);
      const auto [at, there] =
          std::mismatch(accesses.begin(), accesses.end(), expected.begin(), expected.end());
      if (at == accesses.end() && there == expected.end()) continue;
      ADD_FAILURE() << recorded.kernel() << " group " << group << " item " << item << ", access "
                    << at - accesses.begin() << " of " << accesses.size() << "; Oclgrind saw "
                    << expected.size() << (at != accesses.end() ? "\n  recorded " : "")
                    << (at != accesses.end() ? testing::PrintToString(*at) : "")
                    << (there != expected.end() ? "\n  Oclgrind " : "")
                    << (there != expected.end() ? testing::PrintToString(*there) : "");
      return;
    }
  }
}

/// The programs of a case's launches, in their order, as Oclgrind saw them.
std::vector<trace::AccessProgram> seen_by_oclgrind(const std::string& small, Placement placement,
                                                   DataType type) {
  const TemporaryFolder folder;
  const test::OclgrindRun run =
      test::run_under_oclgrind(std::string(FM_PLAIN_LAUNCHES " ") + small + " " +
                                   to_string(placement) + " " + to_string(type),
                               folder.file("trace"), folder);
  EXPECT_EQ(run.status, 0) << run.err;
  const Trace trace = read_trace(folder.file("trace"));
  EXPECT_TRUE(trace.left_out.empty());
  std::vector<trace::AccessProgram> seen;
  for (const trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch()) continue;
    for (const trace::AccessProgram& program : trace.programs) {
      if (program.id() == operation.launch().program()) seen.push_back(program);
    }
  }
  return seen;
}

trace::AccessProgram recorded_by_executor(const Plan& plan, const SmallLaunch& launch) {
  RecordedDevice& device = RecordedDevice::get();
  return record_accesses(device.context, device.cache, recording_kernel(plan, launch.launch),
                         launch.index);
}

TEST_P(OclgrindCatalogueTest, EveryWorkItemMakesTheRecordedAccesses) {
  if (const auto missing = test::oclgrind_missing()) GTEST_SKIP() << *missing;
  const auto& [small, storage] = GetParam();
  const auto [placement, type] = storage;
  SmallPlan plan(placement, type);
  small.add(plan);
  const auto seen = seen_by_oclgrind(small.name, placement, type);
  ASSERT_EQ(seen.size(), plan.launches().size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const SmallLaunch& launch = plan.launches()[i];
    const trace::AccessProgram recorded = recorded_by_executor(plan.plan(), launch);
    expect_equal(
        recorded, index_values(recorded, launch.index), seen[i],
        reads_wide(small.name) ? 4 * static_cast<std::uint32_t>(size_of(type).count()) : 0);
  }
}

TEST(OclgrindCatalogue, NoticesAnAccessElsewhere) {
  if (const auto missing = test::oclgrind_missing()) GTEST_SKIP() << *missing;
  SmallPlan plan(Placement::buffer);
  add_transpose_and_place(plan);
  const auto seen = seen_by_oclgrind("TransposeAndPlace", Placement::buffer, DataType::f16);
  trace::AccessProgram wrong = recorded_by_executor(plan.plan(), plan.launches().front());
  wrong.mutable_sites(0)->mutable_x()->set_constant(8);
  EXPECT_NONFATAL_FAILURE(expect_equal(wrong, {}, seen.front(), 0), "Oclgrind");
}

std::string case_name(const testing::TestParamInfo<OclgrindCatalogueTest::ParamType>& tested) {
  const auto& [small, storage] = tested.param;
  return std::string(small.name) + (storage.first == Placement::buffer ? "Buffer" : "Image") +
         (storage.second == DataType::f32 ? "Float" : "");
}

INSTANTIATE_TEST_SUITE_P(Launches, OclgrindCatalogueTest,
                         testing::Combine(testing::ValuesIn(small_cases()),
                                          testing::Values(Storage{Placement::buffer, DataType::f16},
                                                          Storage{Placement::buffer, DataType::f32},
                                                          Storage{Placement::image2d,
                                                                  DataType::f16})),
                         case_name);

TEST(OclgrindCatalogue, HasEveryKernelOfNetworks) {
  std::set<std::string> launched;
  for (const SmallCase& small : small_cases()) {
    SmallPlan plan(Placement::buffer);
    small.add(plan);
    for (const SmallLaunch& launch : plan.launches()) launched.insert(launch.launch.kernel);
  }
  for (const KernelEntry& entry : microbench_entries()) launched.insert(entry.name);
  for (const KernelEntry& entry : kernel_catalogue()) {
    EXPECT_EQ(launched.count(entry.name), 1u) << entry.name;
  }
}

}  // namespace
}  // namespace fm
