#include "sim/memory/dram_banks.hpp"

#include <algorithm>

namespace fm {
namespace {

void raise(DramCycle& bound, DramCycle to) { bound = std::max(bound, to); }

}  // namespace

DramBanks::DramBanks(const DramParameters& parameters)
    : nominal_(parameters.timing),
      timing_(parameters.timing),
      per_group_(parameters.banks / parameters.bank_groups),
      banks_(parameters.banks) {}

void DramBanks::stretch_bursts(std::uint32_t factor) {
  timing_.burst = nominal_.burst * factor;
  timing_.ccd_s = nominal_.ccd_s * factor;
  timing_.ccd_l = nominal_.ccd_l * factor;
}

DramCycle DramBanks::precharge_all_ok() const {
  DramCycle cycle = precharge_ok_;
  // Closed ones too: their auto-precharge may still be to come.
  for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
    raise(cycle, precharge_bank_ok_[bank]);
  }
  return cycle;
}

DramCycle DramBanks::refresh_ok(std::uint64_t mask) const {
  DramCycle cycle = 0;
  for (; mask != 0; mask &= mask - 1) {
    raise(cycle, banks_[static_cast<std::size_t>(__builtin_ctzll(mask))].refresh_ok);
  }
  return cycle;
}

void DramBanks::close_until(std::uint32_t bank, DramCycle cycle) {
  raise(banks_[bank].refresh_ok, cycle);
  raise(activate_bank_ok_[bank], cycle);
}

void DramBanks::activate(std::uint32_t bank, std::uint64_t row, DramCycle cycle) {
  Bank& state = banks_[bank];
  open_ |= std::uint64_t{1} << bank;
  state.row = row;
  state.columns = 0;
  state.last_column = cycle;
  for (BankCycles& column_ok : column_ok_) raise(column_ok[bank], cycle + timing_.rcd);
  raise(precharge_bank_ok_[bank], cycle + timing_.ras);
  close_until(bank, cycle + timing_.rc);
  const std::uint32_t begin = group_begin(bank);
  for (std::uint32_t other = begin; other < begin + per_group_; ++other) {
    raise(activate_bank_ok_[other], cycle + timing_.rrd_l);
  }
  raise(activate_ok_, cycle + timing_.rrd_s);
  activations_[activation_] = cycle + timing_.faw;
  activation_ = (activation_ + 1) % 4;
}

void DramBanks::precharge(std::uint32_t bank, DramCycle cycle) {
  open_ &= ~(std::uint64_t{1} << bank);
  close_until(bank, cycle + timing_.rp);
  raise(precharge_ok_, cycle + timing_.ppd);
}

void DramBanks::precharge_all(DramCycle cycle) {
  open_ = 0;
  for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
    close_until(bank, cycle + timing_.rp_all);
  }
  raise(precharge_ok_, cycle + timing_.ppd);
}

void DramBanks::column(std::uint32_t bank, bool write, bool closes, DramCycle cycle) {
  Bank& state = banks_[bank];
  const DramTiming& t = timing_;
  ++state.columns;
  state.last_column = cycle;
  const DramCycle end = cycle + (write ? t.cwl : t.cl) + t.burst;
  raise(wck_until_, end + t.wck_post);
  DramCycle group_read_ok = 0, group_write_ok = 0;
  if (write) {
    raise(write_ok_, cycle + std::max(t.ccd_s, t.burst));
    raise(read_ok_, end + t.wtr_s);
    raise(precharge_bank_ok_[bank], end + t.wr);
    group_write_ok = cycle + t.ccd_l;
    group_read_ok = end + t.wtr_l;
  } else {
    raise(read_ok_, cycle + std::max(t.ccd_s, t.burst));
    raise(write_ok_, std::max(end + t.turnaround, cycle + t.cwl + 1) - t.cwl);
    raise(precharge_bank_ok_[bank], cycle + t.rtp);
    group_read_ok = cycle + t.ccd_l;
  }
  const std::uint32_t begin = group_begin(bank);
  for (std::uint32_t other = begin; other < begin + per_group_; ++other) {
    raise(column_ok_[0][other], group_read_ok);
    raise(column_ok_[1][other], group_write_ok);
  }
  if (closes) {
    open_ &= ~(std::uint64_t{1} << bank);
    close_until(bank, precharge_bank_ok_[bank] + t.rp);
  }
}

void DramBanks::refresh_all(DramCycle cycle) {
  for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
    close_until(bank, cycle + timing_.rfc);
  }
}

void DramBanks::refresh_banks(std::uint64_t mask, DramCycle cycle) {
  raise(activate_ok_, cycle + timing_.bank_refresh_to_activate);
  for (; mask != 0; mask &= mask - 1) {
    close_until(static_cast<std::uint32_t>(__builtin_ctzll(mask)), cycle + timing_.rfc_bank);
  }
}

}  // namespace fm
