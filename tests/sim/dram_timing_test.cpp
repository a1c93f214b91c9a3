// Every timing constraint of a DRAM channel in a scenario where it alone binds: all others are one
// clock.

#include <gtest/gtest.h>

#include "tests/sim/dram_machine.hpp"

namespace fm {
namespace {

using test::DramMachine;
using test::LoggedCommand;

constexpr std::uint32_t bound = 97;

DramParameters quick() {
  DramParameters dram;
  dram.channels = 1;
  dram.banks = 8;
  dram.bank_groups = 2;
  dram.row_bytes = 1024;
  dram.interleave = 64;
  dram.burst_bytes = 64;
  dram.mapping = "row bank group column";
  dram.hash = "none";
  dram.clock = 1e12;
  dram.refresh = DramRefresh::none;
  dram.row_hit_limit = 1000;
  dram.starvation = 1000000;
  dram.controller = 0;
  DramTiming& t = dram.timing;
  t.burst = t.ccd_s = t.ccd_l = t.rcd = t.rp = t.rp_all = t.ras = t.rc = 1;
  t.cl = t.cwl = t.rrd_s = t.rrd_l = t.faw = t.wr = t.rtp = 1;
  t.wtr_s = t.wtr_l = t.ppd = 1;
  t.turnaround = 0;
  t.rfc = t.rfc_bank = t.bank_refresh_to_activate = 1;
  return dram;
}

// Pages of 1024 B: groups alternate, then banks, then rows.
constexpr std::uint64_t bank0 = 0, other_group = 1024, same_group = 2048, next_row = 8192;

/// Cycles between the n-th commands `first` and `second` of the log.
DramCycle distance(const DramMachine& machine, DramCommand first, std::size_t first_index,
                   DramCommand second, std::size_t second_index) {
  const auto find = [&](DramCommand command, std::size_t index) {
    for (const LoggedCommand& logged : machine.log()) {
      if (logged.command == command && index-- == 0) return logged.cycle;
    }
    ADD_FAILURE() << "no such command in the log";
    return DramCycle{0};
  };
  return find(second, second_index) - find(first, first_index);
}

struct Request {
  std::uint64_t address;
  AccessKind kind = AccessKind::read;
  Ticks time = 1000;
};

/// Distance in a run of `requests` with `change` made to the parameters.
template <class Change>
DramCycle distance_of(Change change, const std::vector<Request>& requests, DramCommand first,
                      std::size_t first_index, DramCommand second, std::size_t second_index) {
  DramParameters parameters = quick();
  change(parameters);
  DramMachine machine(parameters);
  for (const Request& request : requests) machine.send(request.time, request.address, request.kind);
  machine.run();
  return distance(machine, first, first_index, second, second_index);
}

constexpr auto act = DramCommand::activate, pre = DramCommand::precharge, rd = DramCommand::read,
               wr = DramCommand::write;
constexpr auto read_kind = AccessKind::read, write_kind = AccessKind::write;

TEST(DramTiming, Trcd) {
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.rcd = bound; }, {{bank0}}, act, 0, rd, 0),
            bound);
}

TEST(DramTiming, Trp) {
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.rp = bound; },
                        {{bank0}, {bank0 + next_row}}, pre, 0, act, 1),
            bound);
}

TEST(DramTiming, Tras) {
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.ras = bound; },
                        {{bank0}, {bank0 + next_row}}, act, 0, pre, 0),
            bound);
}

TEST(DramTiming, Trc) {
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.rc = bound; },
                        {{bank0}, {bank0 + next_row}}, act, 0, act, 1),
            bound);
}

TEST(DramTiming, TrrdShort) {
  const auto change = [](DramParameters& p) { p.timing.rrd_s = bound; };
  EXPECT_EQ(distance_of(change, {{bank0}, {other_group}}, act, 0, act, 1), bound);
}

TEST(DramTiming, TrrdLong) {
  const auto change = [](DramParameters& p) { p.timing.rrd_l = bound; };
  EXPECT_EQ(distance_of(change, {{bank0}, {same_group}}, act, 0, act, 1), bound);
  EXPECT_LT(distance_of(change, {{bank0}, {other_group}}, act, 0, act, 1), 3u);
}

TEST(DramTiming, Tfaw) {
  const std::vector<Request> five = {{0}, {1024}, {2048}, {3072}, {4096}};
  const auto change = [](DramParameters& p) { p.timing.faw = bound; };
  EXPECT_EQ(distance_of(change, five, act, 0, act, 4), bound);
  EXPECT_LT(distance_of(change, five, act, 0, act, 3), 20u);
}

TEST(DramTiming, TccdShort) {
  const auto change = [](DramParameters& p) { p.timing.ccd_s = bound; };
  EXPECT_EQ(distance_of(change, {{bank0}, {other_group}}, rd, 0, rd, 1), bound);
  EXPECT_EQ(distance_of(change, {{bank0, write_kind}, {other_group, write_kind}}, wr, 0, wr, 1),
            bound);
}

TEST(DramTiming, TccdLong) {
  const auto change = [](DramParameters& p) { p.timing.ccd_l = bound; };
  EXPECT_EQ(distance_of(change, {{bank0}, {same_group}}, rd, 0, rd, 1), bound);
  EXPECT_LT(distance_of(change, {{bank0}, {other_group}}, rd, 0, rd, 1), 5u);
  EXPECT_EQ(distance_of(change, {{bank0, write_kind}, {same_group, write_kind}}, wr, 0, wr, 1),
            bound);
}

TEST(DramTiming, BurstsTakeTheDataBus) {
  const auto change = [](DramParameters& p) { p.timing.burst = bound; };
  EXPECT_EQ(distance_of(change, {{bank0}, {other_group}}, rd, 0, rd, 1), bound);
}

TEST(DramTiming, Trtp) {
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.rtp = bound; },
                        {{bank0}, {bank0 + next_row}}, rd, 0, pre, 0),
            bound);
}

TEST(DramTiming, Twr) {
  // Write latency and burst, then the recovery.
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.wr = bound; },
                        {{bank0, write_kind}, {bank0 + next_row, write_kind}}, wr, 0, pre, 0),
            1u + 1 + bound);
}

TEST(DramTiming, TwtrShort) {
  const auto change = [](DramParameters& p) { p.timing.wtr_s = bound; };
  EXPECT_EQ(
      distance_of(change, {{bank0, write_kind}, {other_group, read_kind, 1003}}, wr, 0, rd, 0),
      1u + 1 + bound);
}

TEST(DramTiming, TwtrLong) {
  const auto change = [](DramParameters& p) { p.timing.wtr_l = bound; };
  EXPECT_EQ(distance_of(change, {{bank0, write_kind}, {same_group, read_kind, 1003}}, wr, 0, rd, 0),
            1u + 1 + bound);
  EXPECT_LT(
      distance_of(change, {{bank0, write_kind}, {other_group, read_kind, 1003}}, wr, 0, rd, 0),
      10u);
}

TEST(DramTiming, ReadToWrite) {
  const auto change = [](DramParameters& p) {
    p.timing.cl = 20;
    p.timing.cwl = 8;
    p.timing.burst = 4;
    p.timing.turnaround = 3;
  };
  EXPECT_EQ(distance_of(change, {{bank0}, {bank0 + 64, write_kind}}, rd, 0, wr, 0),
            20u + 4 + 3 - 8);
}

TEST(DramTiming, Tppd) {
  EXPECT_EQ(distance_of([](DramParameters& p) { p.timing.ppd = bound; },
                        {{bank0},
                         {other_group},
                         {bank0 + next_row, read_kind, 2000},
                         {other_group + next_row, read_kind, 2000}},
                        pre, 0, pre, 1),
            bound);
}

TEST(DramTiming, CommandSlots) {
  const auto change = [](DramParameters& p) {
    p.timing.rcd = 50;
    p.timing.activate_slots = 4;
    p.timing.column_slots = 7;
    p.timing.precharge_slots = 2;
  };
  EXPECT_EQ(distance_of(change, {{bank0}, {other_group}}, act, 0, act, 1), 4u);
  EXPECT_EQ(distance_of(change, {{bank0}, {bank0 + 64}}, rd, 0, rd, 1), 7u);
  EXPECT_EQ(distance_of(change, {{bank0}, {bank0 + next_row}}, pre, 0, act, 1), 2u);
}

TEST(DramTiming, AllBankRefresh) {
  const auto change = [](DramParameters& p) {
    p.refresh = DramRefresh::all_bank;
    p.timing.refi = 2000;
    p.timing.rfc = bound;
    p.timing.rp_all = 13;
  };
  const std::vector<Request> requests = {{bank0, read_kind, 1990}, {bank0, read_kind, 2000}};
  EXPECT_EQ(distance_of(change, requests, DramCommand::refresh_all, 0, act, 1), bound);
  EXPECT_EQ(
      distance_of(change, requests, DramCommand::precharge_all, 0, DramCommand::refresh_all, 0),
      13u);
}

TEST(DramTiming, PerBankRefresh) {
  const auto change = [](DramParameters& p) {
    p.refresh = DramRefresh::per_bank;
    p.refresh_sets = 8;
    p.timing.refi_bank = 2000;
    p.timing.rfc_bank = bound;
    p.timing.bank_refresh_to_activate = 11;
  };
  const std::vector<Request> requests = {{bank0, read_kind, 1998},
                                         {bank0 + next_row, read_kind, 1999},
                                         {other_group, read_kind, 2003}};
  EXPECT_EQ(distance_of(change, requests, DramCommand::refresh_bank, 0, act, 1), 11u)
      << "another bank";
  EXPECT_EQ(distance_of(change, requests, DramCommand::refresh_bank, 0, act, 2), bound)
      << "its own bank";
}

TEST(DramTiming, SecondActivateWaitsForAFreeSlotNotBeyondTheDeadline) {
  const auto change = [](DramParameters& p) {
    p.timing.aad = 8;
    p.timing.rcd = 20;
  };
  EXPECT_EQ(distance_of(change, {{bank0}}, act, 0, DramCommand::activate2, 0), 1u);
  // The activate of another bank lies between hits of the open row. They fill the command bus, and
  // its second half is put off until it must go.
  std::vector<Request> busy = {{bank0}, {other_group}};
  for (std::uint64_t i = 1; i < 16; ++i) busy.push_back({bank0 + 64 * i});
  const auto late = [&](DramParameters& p) {
    change(p);
    p.timing.rrd_s = 24;
  };
  EXPECT_EQ(distance_of(late, busy, act, 1, DramCommand::activate2, 1), 8u);
}

TEST(DramTiming, WckSync) {
  DramParameters parameters = quick();
  parameters.timing.wck_sync = true;
  parameters.timing.wck_post = 3;
  parameters.timing.cl = 5;
  DramMachine machine(parameters);
  machine.send(1000, bank0);
  machine.send(1005, bank0 + 64);  // data of the first until 1008, WCK until 1011
  machine.send(2000, bank0 + 128);
  machine.run();
  EXPECT_EQ(machine.counts().wck_syncs, 2u);
  EXPECT_EQ(machine.left(2), 2000u + 1 + 5 + 1) << "one clock for the CAS command";
}

TEST(DramTiming, PagePolicies) {
  DramParameters closed = quick();
  closed.page_policy = DramPagePolicy::closed;
  DramMachine machine(closed);
  machine.send(1000, bank0);
  machine.send(1000, bank0 + 64);
  machine.run();
  EXPECT_EQ(machine.counts().activations, 1u) << "a waiting hit keeps the row open";
  EXPECT_EQ(machine.counts().precharges, 1u);
  EXPECT_EQ(machine.log().back().command, DramCommand::read_precharge);
}

TEST(DramTiming, PageTimeout) {
  DramParameters timeout = quick();
  timeout.page_policy = DramPagePolicy::timeout;
  timeout.page_timeout = bound;
  DramMachine machine(timeout);
  machine.send(1000, bank0);
  machine.run();
  EXPECT_EQ(distance(machine, rd, 0, pre, 0), bound);
}

}  // namespace
}  // namespace fm
