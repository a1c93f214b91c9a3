#pragma once
// The JEDEC timing state of one channel: when a command may be issued, and what it forbids after
// it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/dram_parameters.hpp"

namespace fm {

class DramBanks {
 public:
  explicit DramBanks(const DramParameters& parameters);

  bool open(std::uint32_t bank) const { return (open_ >> bank & 1) != 0; }
  std::uint64_t open_banks() const { return open_; }
  std::uint64_t row(std::uint32_t bank) const { return banks_[bank].row; }
  std::uint32_t columns_since_activate(std::uint32_t bank) const { return banks_[bank].columns; }
  DramCycle last_column(std::uint32_t bank) const { return banks_[bank].last_column; }
  bool holds(std::uint32_t bank, std::uint64_t row) const {
    return open(bank) && banks_[bank].row == row;
  }

  // Earliest cycle of a command as far as banks and data bus go; the command bus is the caller's.
  // Those without a bank are lower bounds for all banks.
  DramCycle read_ok() const { return read_ok_; }
  DramCycle write_ok() const { return write_ok_; }
  DramCycle column_ok(std::uint32_t bank, bool write) const { return column_ok_[write][bank]; }
  DramCycle activate_ok() const { return std::max(activate_ok_, activations_[activation_]); }
  DramCycle activate_ok(std::uint32_t bank) const { return activate_bank_ok_[bank]; }
  DramCycle precharge_ok() const { return precharge_ok_; }
  DramCycle precharge_ok(std::uint32_t bank) const { return precharge_bank_ok_[bank]; }
  /// All banks may be precharged at once.
  DramCycle precharge_all_ok() const;
  /// The banks of `mask`, all closed, may be refreshed.
  DramCycle refresh_ok(std::uint64_t mask) const;
  /// The data bus's clock still runs, so that a column command needs no synchronisation before it.
  bool wck_runs(DramCycle cycle) const { return !timing_.wck_sync || cycle < wck_until_; }

  /// From now on bursts, and column commands, take `factor` times their clocks: a slower data rate.
  void stretch_bursts(std::uint32_t factor);

  void activate(std::uint32_t bank, std::uint64_t row, DramCycle cycle);
  void precharge(std::uint32_t bank, DramCycle cycle);
  void precharge_all(DramCycle cycle);
  /// `closes`: with auto-precharge.
  void column(std::uint32_t bank, bool write, bool closes, DramCycle cycle);
  void refresh_all(DramCycle cycle);
  void refresh_banks(std::uint64_t mask, DramCycle cycle);

 private:
  struct Bank {
    std::uint64_t row = 0;
    DramCycle refresh_ok = 0;  ///< activate_bank_ok_ without what its group forbids
    DramCycle last_column = 0;
    std::uint32_t columns = 0;
  };
  static constexpr std::size_t most_banks = 64;
  using BankCycles = std::array<DramCycle, most_banks>;
  /// No activate or refresh of `bank` before `cycle`.
  void close_until(std::uint32_t bank, DramCycle cycle);
  std::uint32_t group_begin(std::uint32_t bank) const { return bank / per_group_ * per_group_; }

  const DramTiming nominal_;
  DramTiming timing_;
  const std::uint32_t per_group_;
  std::vector<Bank> banks_;
  // By bank, with what its group forbids: a decision reads them of many banks.
  std::array<BankCycles, 2> column_ok_{};  ///< read, write
  BankCycles activate_bank_ok_{}, precharge_bank_ok_{};
  std::uint64_t open_ = 0;
  DramCycle read_ok_ = 0, write_ok_ = 0, activate_ok_ = 0, precharge_ok_ = 0, wck_until_ = 0;
  std::array<DramCycle, 4> activations_{};  ///< ends of tFAW of the last four, a ring
  std::uint32_t activation_ = 0;
};

}  // namespace fm
