// What one DRAM channel does with requests, by hand.

#include <gtest/gtest.h>

#include "tests/sim/dram_machine.hpp"

namespace fm {
namespace {

using Machine = test::DramMachine;

/// Round numbers, a clock of one tick; no refresh unless asked for.
DramParameters simple() {
  DramParameters dram;
  dram.channels = 1;
  dram.banks = 4;
  dram.bank_groups = 1;
  dram.row_bytes = 1024;
  dram.interleave = 64;
  dram.burst_bytes = 32;
  dram.mapping = "row bank column";
  dram.clock = 1e12;
  DramTiming& t = dram.timing;
  t.burst = t.ccd_s = t.ccd_l = 10;
  t.rcd = 100;
  t.rp = t.rp_all = 200;
  t.ras = 400;
  t.rc = 600;
  t.cl = 50;
  t.cwl = 30;
  t.rrd_s = t.rrd_l = 20;
  t.faw = 1000;
  t.wr = 60;
  t.rtp = 40;
  t.wtr_s = t.wtr_l = 70;
  t.turnaround = 15;
  t.ppd = 1;
  t.refi = 100000000;
  t.rfc = 5000;
  dram.row_hit_limit = 1000;
  dram.starvation = 1000000;
  dram.controller = 7;
  return dram;
}

// A row is 1024 B; rows permute 4 banks: the bank of page p is p % 4 with the bits of p / 4
// flipped.
constexpr std::uint64_t row0_bank0 = 0, row0_bank1 = 1024, row1_bank0 = 5 * 1024;

TEST(DramChannel, ClosedBank) {
  Machine machine(simple());
  machine.send(1000, row0_bank0);
  machine.run();
  // controller 7, activate, tRCD 100, tCL 50, two bursts of 10, controller 7.
  EXPECT_EQ(machine.left(0), 1000u + 7 + 100 + 50 + 20 + 7);
  EXPECT_EQ(machine.counts().row_misses, 1u);
}

TEST(DramChannel, OpenRow) {
  Machine machine(simple());
  machine.send(1000, row0_bank0);
  machine.send(5000, row0_bank0 + 64);
  machine.run();
  EXPECT_EQ(machine.left(1), 5000u + 7 + 50 + 20 + 7);
  EXPECT_EQ(machine.counts().row_hits, 1u);
}

TEST(DramChannel, OtherRowOfTheBank) {
  Machine machine(simple());
  machine.send(1000, row0_bank0);
  machine.send(5000, row1_bank0);
  machine.run();
  EXPECT_EQ(machine.left(1), 5000u + 7 + 200 + 100 + 50 + 20 + 7);
  EXPECT_EQ(machine.counts().row_conflicts, 1u);
}

TEST(DramChannel, PrechargeWaitsForTras) {
  Machine machine(simple());
  machine.send(1000, row0_bank0);
  machine.send(1001, row1_bank0);
  machine.run();
  // Activated at 1007, so closed at 1407; then tRP, tRCD, tCL.
  EXPECT_EQ(machine.left(1), 1007u + 400 + 200 + 100 + 50 + 20 + 7);
}

TEST(DramChannel, BanksOpenSideBySide) {
  Machine machine(simple());
  machine.send(1000, row0_bank0);
  machine.send(1000, row0_bank1);
  machine.run();
  // The second activation follows the first by tRRD; its column waits for that, not for the first
  // request's data.
  EXPECT_EQ(machine.left(1), 1007u + 20 + 100 + 50 + 20 + 7);
}

/// Whether a row hit that comes last is served before a conflict that came earlier.
bool hit_overtakes(bool first_ready) {
  DramParameters parameters = simple();
  parameters.first_ready = first_ready;
  Machine machine(parameters);
  machine.send(1000, row0_bank0);
  machine.send(1110, row1_bank0);
  machine.send(1111, row0_bank0 + 64);
  machine.run();
  return machine.left(2) < machine.left(1);
}

TEST(DramChannel, RowHitsOvertakeUnlessInOrder) {
  EXPECT_TRUE(hit_overtakes(true));
  EXPECT_FALSE(hit_overtakes(false));
}

TEST(DramChannel, AStarvedRequestIsOvertakenNoMore) {
  DramParameters impatient = simple();
  impatient.starvation = 500;
  impatient.read_queue = 4;
  Machine machine(impatient);
  machine.send(1000, row1_bank0);
  machine.send(1001, row0_bank0);
  for (std::uint32_t i = 0; i < 200; ++i) machine.send(1002 + i, row1_bank0 + 64 * (i % 16));
  machine.run();
  EXPECT_LT(machine.left(1), 1001u + 500 + 2000);
}

TEST(DramChannel, AReadWaitsForTheWholeWriteBeforeIt) {
  Machine machine(simple());
  machine.send(1000, row0_bank0);
  machine.send(5000, row0_bank0, AccessKind::write);
  machine.send(5001, row0_bank0 + 64);
  machine.run();
  EXPECT_EQ(machine.left(1), 5007u + 7) << "writes are answered when they enter the queue";
  // Write commands at 5007 and 5017, data until 5017 + 30 + 10; the read command waits tWTR after.
  EXPECT_EQ(machine.left(2), 5057u + 70 + 50 + 20 + 7);
  EXPECT_EQ(machine.counts().turnarounds, 2u);
}

TEST(DramChannel, AReadOfAWaitingWriteIsAnsweredFromIt) {
  DramParameters parameters = simple();
  parameters.write_high = 8;
  Machine machine(parameters);
  machine.send(1000, row0_bank0);
  machine.send(1000, row1_bank0, AccessKind::write);
  machine.send(1001, row1_bank0);
  machine.send(1002, row1_bank0 + 64);
  machine.run();
  EXPECT_EQ(machine.left(2), 1001u + 7 + 7);
  EXPECT_EQ(machine.counts().forwarded, 1u);
  EXPECT_EQ(machine.counts().read_bursts, 4u) << "the other two reads";
}

TEST(DramChannel, WritesWaitForTheHighMark) {
  DramParameters parameters = simple();
  parameters.write_high = 4;
  parameters.write_low = 1;
  Machine machine(parameters);
  for (std::uint64_t i = 0; i < 40; ++i) machine.send(1000 + i, row0_bank0 + 64 * (i % 16));
  for (std::uint64_t i = 0; i < 3; ++i) {
    machine.send(1000 + i, row0_bank1 + 64 * i, AccessKind::write);
  }
  machine.run();
  EXPECT_EQ(machine.counts().turnarounds, 1u) << "three writes: below the mark, after all reads";
}

TEST(DramChannel, WritesOnlyMoveBurstsWithWrittenBytes) {
  Machine machine(simple());
  machine.send(1000, row0_bank0, AccessKind::write, 0xff);
  machine.send(2000, row0_bank0 + 64, AccessKind::write);
  machine.run();
  EXPECT_EQ(machine.counts().write_bursts, 3u);
}

TEST(DramChannel, FourActivationsInAWindow) {
  DramParameters many = simple();
  many.banks = 8;
  Machine machine(many);
  // Pages 0 to 4 lie in banks 0 to 4.
  for (std::uint64_t page = 0; page < 5; ++page) machine.send(1000, page * 1024);
  machine.run();
  EXPECT_EQ(machine.left(3), 1007u + 3 * 20 + 100 + 50 + 20 + 7);
  EXPECT_EQ(machine.left(4), 1007u + 1000 + 100 + 50 + 20 + 7) << "tFAW after the first";
}

TEST(DramChannel, BankGroupsAlternate) {
  DramParameters grouped = simple();
  grouped.bank_groups = 2;
  grouped.timing.ccd_l = 30;
  grouped.mapping = "row bank column group";
  Machine machine(grouped);
  machine.send(1000, 0);   // group 0
  machine.send(1000, 64);  // group 1
  machine.run();
  machine.send(9000, 0);
  machine.send(9000, 128);  // group 0 again
  machine.run();
  EXPECT_EQ(machine.left(3) - machine.left(2), 60u) << "two bursts of tCCD_L apart";
}

TEST(DramChannel, RefreshClosesRowsAndTakesItsTime) {
  DramParameters refreshing = simple();
  refreshing.timing.refi = 10000;
  Machine machine(refreshing);
  machine.send(9000, row0_bank0);
  machine.send(10100, row0_bank0 + 64);
  machine.run();
  // Due at 10000 while idle: precharge 200, then 5000; the row is opened again.
  EXPECT_EQ(machine.left(1), 10000u + 200 + 5000 + 100 + 50 + 20 + 7);
  EXPECT_EQ(machine.counts().refreshes, 1u);
  EXPECT_EQ(machine.counts().row_misses, 2u);
}

TEST(DramChannel, AStreamRunsAtTheBusRate) {
  Machine machine(simple());
  constexpr std::uint32_t requests = 1000;
  for (std::uint32_t i = 0; i < requests; ++i) machine.send(1000, std::uint64_t{i} * 64);
  machine.run();
  const double busy = static_cast<double>(machine.counts().busy_clocks);
  EXPECT_EQ(machine.counts().busy_clocks, requests * 20u);
  // tFAW bounds it: 4 rows of 1024 B a 1000 ticks are more than enough, so only the first row's
  // opening shows.
  EXPECT_LT(static_cast<double>(machine.left(requests - 1) - 1000), busy * 1.05);
}

}  // namespace
}  // namespace fm
