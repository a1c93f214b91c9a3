// Random channels under random requests: no timing rule is broken, everything drains, nobody waits
// for ever.

#include <gtest/gtest.h>

#include <random>

#include "tests/sim/dram_checker.hpp"

namespace fm {
namespace {

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}
  std::uint32_t number(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool flag() { return number(0, 1) == 1; }

 private:
  std::mt19937 random_;
};

DramTiming random_timing(Draw& draw) {
  DramTiming t;
  t.burst = draw.number(1, 8);
  t.cl = draw.number(5, 30);
  t.cwl = draw.number(3, t.cl);
  t.rcd = draw.number(9, 40);
  t.rp = draw.number(1, 30);
  t.rp_all = t.rp + draw.number(0, 5);
  t.ras = t.rcd + draw.number(0, 40);
  t.rc = t.ras + t.rp + draw.number(0, 5);
  t.rrd_s = draw.number(1, 10);
  t.rrd_l = t.rrd_s + draw.number(0, 5);
  t.faw = draw.number(t.rrd_s, 60);
  t.ccd_s = draw.number(1, 8);
  t.ccd_l = std::max(t.ccd_s, t.burst) + draw.number(0, 6);
  t.rtp = draw.number(1, 15);
  t.wr = draw.number(1, 40);
  t.wtr_s = draw.number(0, 10);
  t.wtr_l = t.wtr_s + draw.number(0, 10);
  t.turnaround = draw.number(0, 4);
  t.ppd = draw.number(1, 4);
  t.refi = draw.number(800, 5000);
  t.rfc = draw.number(20, 300);
  t.rfc_bank = draw.number(20, 150);
  t.refi_bank = 2 * t.rfc_bank + draw.number(50, 1000);
  t.bank_refresh_to_activate = draw.number(1, 10);
  t.aad = draw.flag() ? 8 : 0;
  t.wck_sync = draw.flag();
  t.wck_post = draw.number(0, 3);
  t.column_slots = draw.number(1, 4);
  t.activate_slots = t.aad != 0 ? 1 : draw.number(1, 4);
  t.precharge_slots = draw.number(1, 2);
  return t;
}

DramParameters random_parameters(Draw& draw) {
  DramParameters dram;
  dram.channels = 1;
  dram.bank_groups = 1u << draw.number(0, 2);
  dram.banks = dram.bank_groups << draw.number(0, 2);
  dram.row_bytes = 256u << draw.number(0, 2);
  dram.rows = 64;
  dram.interleave = 64;
  dram.burst_bytes = 32u << draw.number(0, 1);
  dram.mapping = draw.flag() ? "row bank group column" : "row column bank group column:1";
  const char* const hashes[] = {"none", "row", "column"};
  dram.hash = hashes[draw.number(0, 2)];
  dram.clock = draw.flag() ? 1e12 : 800e9;
  dram.timing = random_timing(draw);
  dram.read_queue = draw.number(1, 40);
  dram.write_queue = draw.number(1, 40);
  dram.write_high = draw.number(1, dram.write_queue);
  dram.write_low = draw.number(0, dram.write_high - 1);
  dram.first_ready = draw.number(0, 4) != 0;
  dram.row_hit_limit = draw.number(1, 30);
  dram.page_policy = static_cast<DramPagePolicy>(draw.number(0, 2));
  dram.page_timeout = draw.number(1, 200);
  dram.refresh = static_cast<DramRefresh>(draw.number(0, 2));
  dram.refresh_sets = dram.banks >> draw.number(0, dram.banks > 1 ? 1 : 0);
  dram.starvation = draw.number(200, 2000);
  dram.controller = draw.number(0, 10);
  return dram;
}

TEST(DramProperty, RandomChannelsObeyEveryRuleAndDrain) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const DramParameters parameters = random_parameters(draw);
    test::DramMachine machine(parameters);
    const std::uint32_t requests = 400, span = 1u << draw.number(9, 17);
    const std::uint32_t writes = draw.number(0, 100), gap = draw.number(0, 60);
    Ticks time = 1000;
    for (std::uint32_t i = 0; i < requests; ++i) {
      time += draw.number(0, gap);
      if (draw.number(0, 50) == 0) time += draw.number(0, 9000);
      const bool write = draw.number(1, 100) <= writes;
      machine.send(time, draw.number(0, span / 64) * 64,
                   write ? AccessKind::write : AccessKind::read,
                   draw.flag() ? ~std::uint64_t{0} : 0xffu);
    }
    machine.run();
    ASSERT_TRUE(machine.dram().channels()[0]->idle());
    ASSERT_EQ(machine.answers(), requests);
    const DramCounts& counts = machine.counts();
    EXPECT_EQ(counts.row_hits + counts.row_misses + counts.row_conflicts + counts.forwarded,
              requests);
    EXPECT_EQ(counts.activations, counts.precharges + machine.dram().channels()[0]->open_rows());
    test::DramChecker(parameters).check(machine.log());
    if (HasFatalFailure()) return;
  }
}

TEST(DramProperty, NobodyStarves) {
  // A stream of hits one way, and one request that each of the policies would put off.
  for (const AccessKind late : {AccessKind::read, AccessKind::write}) {
    DramParameters parameters;
    parameters.channels = 1;
    parameters.clock = 1e12;
    parameters.mapping = "row bank group column";
    parameters.hash = "none";
    parameters.row_hit_limit = 1000000;
    parameters.starvation = 1000;
    parameters.refresh = DramRefresh::none;
    parameters.controller = 0;
    test::DramMachine machine(parameters);
    const std::uint64_t other_row = 16 * 2048;
    machine.send(1000, 0);
    machine.send(1001, other_row, late);
    for (std::uint32_t i = 0; i < 20000; ++i) machine.send(1002 + i, 64 * (i % 32));
    machine.run();
    DramCycle served = 0;
    for (const test::LoggedCommand& command : machine.log()) {
      if (command.command == DramCommand::activate && command.row == 1) served = command.cycle;
    }
    EXPECT_GT(served, 1001u + 1000 - 100);
    EXPECT_LT(served, 1001u + 1000 + 500) << to_string(late);
  }
}

}  // namespace
}  // namespace fm
