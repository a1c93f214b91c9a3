// Working sets within and beyond the reach of the TLBs, as pointer chases show them on phones.

#include "sim/gpu/translation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/gpu_machine.hpp"

namespace fm {
namespace {

using test::expression;
using test::GpuMachine;
using testing::IsEmpty;

struct Chase {
  std::uint64_t core_hits, shared_hits, walks;
  double cycles_a_load;
};

/// One work-item reads a line of each of `pages` pages, twice over, one load after another. Its L1
/// holds four lines, its core's TLB 8 pages, the shared one 64.
Chase chase(std::int64_t pages, const std::string& page_size = "4 KiB") {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  for (const auto& [path, value] :
       std::vector<std::pair<const char*, std::string>>{{"gpu.cores", "1"},
                                                        {"gpu.max_outstanding_loads", "1"},
                                                        {"load_store.cache_size", "256 B"},
                                                        {"mmu.page_size", page_size},
                                                        {"mmu.core_tlb_entries", "8"},
                                                        {"mmu.core_tlb_ways", "8"},
                                                        {"mmu.tlb_entries", "64"},
                                                        {"mmu.tlb_ways", "64"}}) {
    config.set(path, value);
  }
  trace::AccessProgram program = test::empty_program({1, 1, 1}, {1, 1, 1});
  test::Body* twice = test::add_loop(program.mutable_body(), 0, expression(0), expression(2));
  test::Body* loop = test::add_loop(twice, 1, expression(0), expression(pages));
  test::add_access(&program, loop, trace::GLOBAL, false, 4, 0,
                   expression(0, {{4096 + 64, trace::LOOP, 1}}));
  GpuMachine machine(config);
  machine.add(program, {test::buffer(0, 1 << 24)});
  machine.run();
  EXPECT_THAT(machine.faults(), IsEmpty());
  const GpuLaunchReport& report = machine.reports().at(0);
  const double time = static_cast<double>(report.end.count() - report.start.count()) -
                      static_cast<double>(config.time("host.launch_overhead").count());
  return {machine.counter("tlb.hits"), machine.counter("mmu.hits"), machine.counter("mmu.walks"),
          time * config.hertz("gpu.clock") * 1e-12 / static_cast<double>(2 * pages)};
}

TEST(Translation, PagesTheCoresTlbHoldsAreAskedForOnce) {
  const Chase within = chase(6);
  EXPECT_EQ(within.walks, 6u);
  EXPECT_EQ(within.core_hits, 6u);
  EXPECT_EQ(within.shared_hits, 0u);
}

TEST(Translation, BeyondTheCoresTlbTheSharedOneAnswers) {
  const Chase beyond = chase(40);
  EXPECT_EQ(beyond.core_hits, 0u);
  EXPECT_EQ(beyond.walks, 40u);
  EXPECT_EQ(beyond.shared_hits, 40u);
}

TEST(Translation, BeyondTheSharedTlbsReachEachLoadWalks) {
  const Chase within = chase(40), beyond = chase(100), large_pages = chase(100, "64 KiB");
  EXPECT_EQ(beyond.shared_hits, 0u);
  EXPECT_EQ(beyond.walks, 200u);
  EXPECT_GT(beyond.cycles_a_load, within.cycles_a_load);
  EXPECT_EQ(large_pages.walks, 7u) << "100 pages of 4 KiB lie in 7 of 64 KiB";
  EXPECT_LT(large_pages.cycles_a_load, within.cycles_a_load);
}

}  // namespace
}  // namespace fm
