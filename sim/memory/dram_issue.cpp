// What the commands of a DRAM channel do.

#include <algorithm>

#include "sim/memory/dram_channel.hpp"

namespace fm {

void DramChannel::note(DramCycle cycle, DramCommand command, std::uint32_t bank,
                       std::uint64_t row) {
  if (observer_ != nullptr) observer_->command(cycle, command, bank, row);
}

void DramChannel::issue(const Plan& plan) {
  looked_ = plan.cycle;
  switch (plan.action) {
    case Action::nothing:
    case Action::look_again:
      return;
    case Action::column:
      issue_column(plan);
      return;
    case Action::activate:
      issue_activate(plan);
      return;
    case Action::activate2:
      note(plan.cycle, DramCommand::activate2, plan.bank, banks_.row(plan.bank));
      activating_ = false;
      slot_ = plan.cycle + 1;
      return;
    case Action::precharge:
      note(plan.cycle, DramCommand::precharge, plan.bank, banks_.row(plan.bank));
      ++counts_.precharges;
      if (plan.entry != DramQueue::none) {
        queue(drain_)[plan.entry].row_case = DramRowCase::conflict;
      }
      banks_.precharge(plan.bank, plan.cycle);
      close_bank(plan.bank);
      break;
    case Action::precharge_all:
      precharge_all(plan.cycle);
      break;
    case Action::refresh_all:
      refresh_all(plan.cycle);
      ++counts_.refreshes;
      next_refresh_ += refresh_interval();
      break;
    case Action::refresh_banks:
      refresh_banks(plan.cycle);
      ++counts_.bank_refreshes;
      next_refresh_ += refresh_interval();
      break;
  }
  slot_ = plan.cycle + parameters_.timing.precharge_slots;
}

void DramChannel::issue_activate(const Plan& plan) {
  DramEntry& entry = queue(drain_)[plan.entry];
  const std::uint64_t row = entry.place.row;
  note(plan.cycle, DramCommand::activate, plan.bank, row);
  ++counts_.activations;
  if (entry.row_case == DramRowCase::hit) entry.row_case = DramRowCase::miss;
  banks_.activate(plan.bank, row, plan.cycle);
  queue(drain_).open_row(plan.bank, row, plan.entry);
  queue(!drain_).row_opened_elsewhere(plan.bank, row);
  slot_ = plan.cycle + parameters_.timing.activate_slots;
  if (parameters_.timing.aad == 0) return;
  activating_ = true;
  activating_bank_ = plan.bank;
  activate2_deadline_ = plan.cycle + parameters_.timing.aad;
}

void DramChannel::issue_column(const Plan& plan) {
  DramCycle cycle = plan.cycle;
  if (!banks_.wck_runs(cycle)) {
    note(cycle, DramCommand::wck_sync, plan.bank);
    ++counts_.wck_syncs;
    ++cycle;
  }
  DramQueue& queue = this->queue(drain_);
  DramEntry& entry = queue[plan.entry];
  const std::uint64_t row = entry.place.row;
  --entry.bursts;
  const bool last = entry.bursts == 0;
  unfinished_ = !last;
  if (last) {
    complete(entry, cycle);
    queue.erase(plan.entry);
  }
  const std::uint64_t bank_bit = std::uint64_t{1} << plan.bank;
  const bool closes = parameters_.page_policy == DramPagePolicy::closed &&
                      ((reads_.hits() | writes_.hits()) & bank_bit) == 0;
  const DramCommand command = drain_ ? (closes ? DramCommand::write_precharge : DramCommand::write)
                                     : (closes ? DramCommand::read_precharge : DramCommand::read);
  note(cycle, command, plan.bank, row);
  banks_.column(plan.bank, drain_, closes, cycle);
  if (closes) {
    ++counts_.precharges;
    close_bank(plan.bank);
  }
  ++(drain_ ? counts_.write_bursts : counts_.read_bursts);
  counts_.busy_clocks += burst_;
  counts_.slow_clocks += burst_ - parameters_.timing.burst;
  if (drain_ != last_write_) ++counts_.turnarounds;
  last_write_ = drain_;
  slot_ = cycle + parameters_.timing.column_slots;
}

void DramChannel::complete(DramEntry& entry, DramCycle cycle) {
  const LineRequest& request = entry.request;
  switch (entry.row_case) {
    case DramRowCase::hit:
      ++counts_.row_hits;
      break;
    case DramRowCase::miss:
      ++counts_.row_misses;
      break;
    case DramRowCase::conflict:
      ++counts_.row_conflicts;
      break;
  }
  const std::size_t client = index_of(request.client), kind = index_of(request.kind);
  ++counts_.requests[client][kind];
  counts_.bursts[client][kind] += entry.all_bursts;
  counts_.bytes[client][kind] += request.bytes;
  counts_.queued_clocks += cycle - entry.entered;
  if (request.kind == AccessKind::write) return;
  const Ticks end = command_clock_.ticks(cycle + parameters_.timing.cl + burst_);
  counts_.read_latency += end - request.time;
  counts_.service_latency += end - command_clock_.ticks(entry.entered);
  outlet_->answer(index_, request, end + parameters_.controller);
}

void DramChannel::close_bank(std::uint32_t bank) {
  reads_.close_row(bank);
  writes_.close_row(bank);
}

void DramChannel::precharge_all(DramCycle cycle) {
  note(cycle, DramCommand::precharge_all);
  ++counts_.precharge_alls;
  for (std::uint64_t rest = banks_.open_banks(); rest != 0; rest &= rest - 1) {
    ++counts_.precharges;
    close_bank(static_cast<std::uint32_t>(__builtin_ctzll(rest)));
  }
  banks_.precharge_all(cycle);
}

void DramChannel::refresh_all(DramCycle cycle) {
  note(cycle, DramCommand::refresh_all);
  banks_.refresh_all(cycle);
}

void DramChannel::refresh_banks(DramCycle cycle) {
  const std::uint64_t set = refresh_set();
  for (std::uint64_t rest = set; rest != 0; rest &= rest - 1) {
    note(cycle, DramCommand::refresh_bank, static_cast<std::uint32_t>(__builtin_ctzll(rest)));
  }
  banks_.refresh_banks(set, cycle);
  refresh_cursor_ = (refresh_cursor_ + 1) % parameters_.refresh_sets;
}

void DramChannel::catch_up(DramCycle cycle) {
  if (parameters_.refresh == DramRefresh::none || next_refresh_ > cycle) return;
  const bool all = parameters_.refresh == DramRefresh::all_bank;
  const DramCycle interval = refresh_interval();
  const std::uint64_t due = (cycle - next_refresh_) / interval + 1;
  // Of those before the last round only the number matters.
  const std::uint64_t round = all ? 1 : parameters_.refresh_sets;
  const std::uint64_t skipped = due > round ? due - round : 0;
  (all ? counts_.refreshes : counts_.bank_refreshes) += due;
  refresh_cursor_ = static_cast<std::uint32_t>((refresh_cursor_ + skipped) % round);
  next_refresh_ += skipped * interval;
  for (std::uint64_t i = skipped; i < due; ++i, next_refresh_ += interval) {
    slot_ = std::max(slot_, next_refresh_);
    if (banks_.open_banks() != 0) {
      slot_ = std::max(slot_, banks_.precharge_all_ok());
      precharge_all(slot_);
      slot_ += parameters_.timing.precharge_slots;
    }
    const std::uint64_t set = all ? ~std::uint64_t{0} >> (64 - parameters_.banks) : refresh_set();
    slot_ = std::max(slot_, banks_.refresh_ok(set));
    if (!all) slot_ = std::max(slot_, banks_.activate_ok());
    all ? refresh_all(slot_) : refresh_banks(slot_);
    slot_ += parameters_.timing.precharge_slots;
  }
}

}  // namespace fm
