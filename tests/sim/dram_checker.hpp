#pragma once
// Checks a channel's command log against JEDEC's rules, pair by pair: an independent reading of
// them.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/sim/dram_machine.hpp"

namespace fm::test {

class DramChecker {
 public:
  explicit DramChecker(const DramParameters& parameters) : p_(parameters), t_(parameters.timing) {}

  /// Fails the test at the first broken rule.
  void check(const std::vector<LoggedCommand>& log) {
    for (std::size_t i = 0; i < log.size(); ++i) {
      check_state(log, i);
      if (i != 0) bus(log[i - 1], log[i]);
      for (std::size_t j = i; j-- != 0 && log[i].cycle - log[j].cycle <= horizon();) {
        const DramCycle least = distance(log[j], log[i]);
        ASSERT_GE(log[i].cycle, log[j].cycle + least)
            << "command " << name(log[i]) << " too soon after " << name(log[j]) << " at "
            << log[j].cycle << " and " << log[i].cycle;
      }
      four_activates(log, i);
      apply(log[i]);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  using C = DramCommand;
  static bool is_read(C c) { return c == C::read || c == C::read_precharge; }
  static bool is_write(C c) { return c == C::write || c == C::write_precharge; }
  static bool is_column(C c) { return is_read(c) || is_write(c); }
  static bool is_refresh(C c) { return c == C::refresh_all || c == C::refresh_bank; }
  static std::string name(const LoggedCommand& c) {
    return std::to_string(static_cast<int>(c.command)) + " of bank " + std::to_string(c.bank);
  }
  std::uint32_t group(std::uint32_t bank) const { return bank / (p_.banks / p_.bank_groups); }
  DramCycle horizon() const {
    return 10 + std::max({t_.rfc, t_.rfc_bank, t_.rc + t_.rp, t_.faw, t_.cl + t_.burst + t_.wr}) +
           t_.cwl + t_.burst + t_.wr + t_.wtr_l;
  }
  static bool concerns(const LoggedCommand& c, std::uint32_t bank) {
    return c.command == C::precharge_all || c.command == C::refresh_all || c.bank == bank;
  }

  /// Least cycles from `a` to `b`; 0 when no rule names the pair.
  DramCycle distance(const LoggedCommand& a, const LoggedCommand& b) const {
    const bool same_bank = concerns(a, b.bank) || concerns(b, a.bank);
    const bool same_group = group(a.bank) == group(b.bank);
    const DramCycle write_end = t_.cwl + t_.burst;
    if (b.command == C::activate) {
      switch (a.command) {
        case C::activate:
          return a.bank == b.bank ? t_.rc : same_group ? t_.rrd_l : t_.rrd_s;
        case C::precharge:
          return a.bank == b.bank ? t_.rp : 0;
        case C::precharge_all:
          return t_.rp_all;
        case C::read_precharge:
          return a.bank == b.bank ? t_.rtp + t_.rp : 0;
        case C::write_precharge:
          return a.bank == b.bank ? write_end + t_.wr + t_.rp : 0;
        case C::refresh_all:
          return t_.rfc;
        case C::refresh_bank:
          return a.bank == b.bank ? t_.rfc_bank : t_.bank_refresh_to_activate;
        default:
          return 0;
      }
    }
    if (is_column(b.command)) {
      if (a.command == C::activate) return a.bank == b.bank ? t_.rcd : 0;
      if (is_column(a.command) && is_read(a.command) == is_read(b.command)) {
        return std::max(same_group ? t_.ccd_l : t_.ccd_s, t_.burst);
      }
      if (is_read(a.command)) return t_.cl + t_.burst + t_.turnaround - t_.cwl;
      if (is_write(a.command)) return write_end + (same_group ? t_.wtr_l : t_.wtr_s);
    }
    if (b.command == C::precharge || b.command == C::precharge_all) {
      if (a.command == C::precharge || a.command == C::precharge_all) return t_.ppd;
      if (!same_bank) return 0;
      if (a.command == C::activate) return t_.ras;
      if (is_read(a.command)) return t_.rtp;
      if (is_write(a.command)) return write_end + t_.wr;
    }
    if (is_refresh(b.command) && same_bank) {
      if (a.command == C::precharge) return t_.rp;
      if (a.command == C::precharge_all) return t_.rp_all;
      if (a.command == C::refresh_all) return t_.rfc;
      if (a.command == C::refresh_bank) return a.cycle == b.cycle ? 0 : t_.rfc_bank;
      if (a.command == C::activate) return t_.rc;
      if (a.command == C::read_precharge) return t_.rtp + t_.rp;
      if (a.command == C::write_precharge) return write_end + t_.wr + t_.rp;
    }
    return 0;
  }

  std::uint32_t slots(C command) const {
    if (command == C::activate) return t_.activate_slots;
    if (is_column(command)) return t_.column_slots;
    if (command == C::activate2 || command == C::wck_sync) return 1;
    return t_.precharge_slots;
  }
  void bus(const LoggedCommand& a, const LoggedCommand& b) const {
    // The banks of one per-bank refresh are one command.
    if (a.command == C::refresh_bank && b.command == a.command && a.cycle == b.cycle) return;
    ASSERT_GE(b.cycle, a.cycle + slots(a.command)) << "two commands at once on the command bus";
  }

  void four_activates(const std::vector<LoggedCommand>& log, std::size_t i) {
    if (log[i].command != C::activate) return;
    activates_.push_back(log[i].cycle);
    const std::size_t n = activates_.size();
    if (n > 4) {
      ASSERT_GE(activates_[n - 1] - activates_[n - 5], t_.faw);
    }
  }

  void check_state(const std::vector<LoggedCommand>& log, std::size_t i) {
    const LoggedCommand& c = log[i];
    if (c.command == C::activate) {
      ASSERT_EQ(open_.count(c.bank), 0u) << "activate of an open bank";
      ASSERT_FALSE(half_open_) << "activate between the halves of another";
    } else if (c.command == C::activate2) {
      ASSERT_TRUE(half_open_);
      ASSERT_EQ(half_bank_, c.bank);
      ASSERT_LE(c.cycle, half_cycle_ + t_.aad);
    } else if (is_column(c.command)) {
      ASSERT_EQ(open_.count(c.bank), 1u) << "column command to a closed bank";
      ASSERT_EQ(open_.at(c.bank), c.row);
      ASSERT_FALSE(half_open_ && half_bank_ == c.bank);
      if (t_.wck_sync && c.cycle >= wck_until_) {
        ASSERT_EQ(log.at(i - 1).command, C::wck_sync) << "WCK stopped";
        ASSERT_EQ(log.at(i - 1).cycle + 1, c.cycle);
      }
    } else if (c.command == C::refresh_all) {
      ASSERT_TRUE(open_.empty());
    } else if (c.command == C::refresh_bank) {
      ASSERT_EQ(open_.count(c.bank), 0u);
    } else if (c.command == C::precharge) {
      ASSERT_EQ(open_.count(c.bank), 1u);
      ASSERT_FALSE(half_open_ && half_bank_ == c.bank);
    } else if (c.command == C::precharge_all) {
      ASSERT_FALSE(half_open_);
    }
  }

  void apply(const LoggedCommand& c) {
    if (c.command == C::activate) {
      open_[c.bank] = c.row;
      half_open_ = t_.aad != 0;
      half_bank_ = c.bank;
      half_cycle_ = c.cycle;
    }
    if (c.command == C::activate2) half_open_ = false;
    if (c.command == C::precharge_all) open_.clear();
    if (c.command == C::precharge || c.command == C::read_precharge ||
        c.command == C::write_precharge) {
      open_.erase(c.bank);
    }
    if (is_column(c.command)) {
      const DramCycle end = c.cycle + (is_read(c.command) ? t_.cl : t_.cwl) + t_.burst;
      wck_until_ = std::max(wck_until_, end + t_.wck_post);
    }
  }

  const DramParameters p_;
  const DramTiming t_;
  std::map<std::uint32_t, std::uint64_t> open_;
  std::vector<DramCycle> activates_;
  bool half_open_ = false;
  std::uint32_t half_bank_ = 0;
  DramCycle half_cycle_ = 0, wck_until_ = 0;
};

}  // namespace fm::test
