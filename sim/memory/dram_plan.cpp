// What a DRAM channel does next, and when.

#include <algorithm>

#include "sim/memory/dram_channel.hpp"

namespace fm {
namespace {

/// Lower than every request's: of maintenance that goes before requests.
constexpr std::uint64_t urgent = 0;
/// Higher than every request's.
constexpr std::uint64_t when_free = ~std::uint64_t{0};

std::uint32_t lowest(std::uint64_t banks) {
  return static_cast<std::uint32_t>(__builtin_ctzll(banks));
}
std::uint64_t bit(std::uint32_t bank) { return std::uint64_t{1} << bank; }

/// The bank whose command may be issued first, on a tie that of the oldest request.
class First {
 public:
  explicit First(DramCycle from) : from_(from) {}
  void offer(std::uint32_t bank, DramCycle cycle, std::uint64_t order) {
    const std::uint64_t key = (cycle - from_) << order_bits | order;
    bank_ = key < key_ ? bank : bank_;
    key_ = std::min(key, key_);
  }
  bool any() const { return key_ != ~std::uint64_t{0}; }
  std::uint32_t bank() const { return bank_; }
  DramCycle cycle() const { return from_ + (key_ >> order_bits); }
  std::uint64_t order() const { return key_ & ((std::uint64_t{1} << order_bits) - 1); }

 private:
  static constexpr std::uint32_t order_bits = 40;
  const DramCycle from_;
  std::uint64_t key_ = ~std::uint64_t{0};
  std::uint32_t bank_ = 0;
};

}  // namespace

void DramChannel::plan(DramCycle from) {
  from = std::max(from, slot_);
  decision_ = from;
  plan_ = Plan{};
  if (reads_.empty() && writes_.empty()) {
    propose_timeouts(from);
    return;
  }
  const bool refreshes = parameters_.refresh != DramRefresh::none;
  const bool due = refreshes && from >= next_refresh_;
  if (due && parameters_.refresh == DramRefresh::all_bank) {
    propose_all_bank_refresh(from);
  } else {
    choose_direction();
    if (due) propose_bank_refresh(from);
    propose_requests(from, due ? refresh_set() : 0);
    propose_timeouts(from);
  }
  if (activating_) propose_second_activate(from);
  if (refreshes && !due && plan_.cycle > next_refresh_) {
    plan_ = Plan{};
    propose(next_refresh_, urgent, Action::look_again, 0, DramQueue::none);
  }
}

void DramChannel::propose(DramCycle cycle, std::uint64_t order, Action action, std::uint32_t bank,
                          DramQueue::Index entry) {
  if (cycle > plan_.cycle || (cycle == plan_.cycle && order >= plan_.order)) return;
  plan_ = {cycle, order, action, bank, entry};
}

void DramChannel::propose_requests(DramCycle from, std::uint64_t blocked) {
  if (!parameters_.first_ready) {
    propose_in_order(from, blocked);
    return;
  }
  const DramQueue& queue = this->queue(drain_);
  const std::uint64_t open = banks_.open_banks();
  starving_ = !queue.empty() && starved(queue[queue.oldest()]);
  propose_columns(from, queue.hits() & (~blocked | queue.owners()));
  if (!activating_) propose_activates(from, queue.others() & ~open & ~blocked);
  propose_precharges(from, queue.others() & open & ~queue.owners() & ~blocked);
}

bool DramChannel::plan_arrival(const DramEntry& entry, bool hit, DramCycle from) {
  from = std::max(from, slot_);
  const bool write = entry.request.kind == AccessKind::write;
  const DramQueue& queue = this->queue(drain_);
  // What only a look at all banks can decide.
  if (!parameters_.first_ready || parameters_.page_policy == DramPagePolicy::timeout ||
      activating_ || plan_.action == Action::nothing || plan_.action == Action::look_again ||
      (parameters_.refresh != DramRefresh::none && from >= next_refresh_)) {
    return false;
  }
  const bool drained = drain_;
  choose_direction();
  if (drain_ != drained) {
    drain_ = drained;
    return false;
  }
  if (write != drain_) return true;
  const std::uint32_t bank = entry.place.bank;
  if (hit) {
    if (queue.hit_order(bank) != entry.order) return true;
    if (plan_.action == Action::precharge && plan_.bank == bank) return false;
    propose_columns(from, bit(bank));
  } else if (queue.other_order(bank) == entry.order) {
    if (banks_.open(bank)) {
      propose_precharges(from, bit(bank) & ~queue.owners());
    } else {
      propose_activates(from, bit(bank));
    }
  }
  return true;
}

void DramChannel::choose_direction() {
  if (!parameters_.first_ready) {
    drain_ = reads_.empty() ||
             (!writes_.empty() && writes_[writes_.oldest()].order < reads_[reads_.oldest()].order);
    return;
  }
  if (unfinished_) return;
  if (drain_) {
    drain_ = !writes_.empty() && (reads_.empty() || writes_.size() > parameters_.write_low);
  } else {
    drain_ = !writes_.empty() && (reads_.empty() || writes_.size() >= parameters_.write_high);
  }
  if (reads_.empty() || writes_.empty()) return;
  // Else a stream of one direction could hold up the other for ever.
  const DramEntry& read = reads_[reads_.oldest()];
  const DramEntry& write = writes_[writes_.oldest()];
  const DramEntry& oldest = read.order < write.order ? read : write;
  if (starved(oldest)) drain_ = &oldest == &write;
}

void DramChannel::propose_columns(DramCycle from, std::uint64_t banks) {
  const DramQueue& queue = this->queue(drain_);
  from = std::max(from, drain_ ? banks_.write_ok() : banks_.read_ok());
  if (from > plan_.cycle) return;
  if (activating_) banks &= ~bit(activating_bank_);
  First first(from);
  for (; banks != 0; banks &= banks - 1) {
    const std::uint32_t bank = lowest(banks);
    if (starving_ && overtakes_starved(bank)) continue;
    first.offer(bank, std::max(from, banks_.column_ok(bank, drain_)), queue.hit_order(bank));
  }
  if (!first.any()) return;
  propose(first.cycle(), first.order(), Action::column, first.bank(),
          queue.first_hit(first.bank()));
}

void DramChannel::propose_activates(DramCycle from, std::uint64_t banks) {
  const DramQueue& queue = this->queue(drain_);
  from = std::max(from, banks_.activate_ok());
  if (from > plan_.cycle) return;
  First first(from);
  for (; banks != 0; banks &= banks - 1) {
    const std::uint32_t bank = lowest(banks);
    first.offer(bank, std::max(from, banks_.activate_ok(bank)), queue.other_order(bank));
  }
  if (!first.any()) return;
  propose(first.cycle(), first.order(), Action::activate, first.bank(),
          queue.first_other(first.bank()));
}

void DramChannel::propose_precharges(DramCycle from, std::uint64_t banks) {
  const DramQueue& queue = this->queue(drain_);
  from = std::max(from, banks_.precharge_ok());
  if (from > plan_.cycle) return;
  First first(from);
  for (; banks != 0; banks &= banks - 1) {
    const std::uint32_t bank = lowest(banks);
    if ((queue.hits() & bit(bank)) != 0 &&
        banks_.columns_since_activate(bank) < parameters_.row_hit_limit &&
        !(starving_ && overtakes_starved(bank))) {
      continue;
    }
    first.offer(bank, std::max(from, banks_.precharge_ok(bank)), queue.other_order(bank));
  }
  if (!first.any()) return;
  propose(first.cycle(), first.order(), Action::precharge, first.bank(),
          queue.first_other(first.bank()));
}

bool DramChannel::overtakes_starved(std::uint32_t bank) const {
  const DramQueue& queue = this->queue(drain_);
  if ((queue.others() & ~queue.owners() & bit(bank)) == 0) return false;
  const DramEntry& other = queue[queue.first_other(bank)];
  return starved(other) && other.order < queue[queue.first_hit(bank)].order;
}

void DramChannel::propose_in_order(DramCycle from, std::uint64_t blocked) {
  starving_ = false;
  const DramQueue& queue = this->queue(drain_);
  const DramEntry& entry = queue[queue.oldest()];
  const std::uint32_t bank = entry.place.bank;
  if ((blocked & bit(bank)) != 0 && !entry.owner) return;
  if (banks_.holds(bank, entry.place.row)) {
    if (queue.first_hit(bank) == queue.oldest()) propose_columns(from, bit(bank));
  } else if (!banks_.open(bank)) {
    if (!activating_) propose_activates(from, bit(bank));
  } else {
    propose(std::max({from, banks_.precharge_ok(), banks_.precharge_ok(bank)}), entry.order,
            Action::precharge, bank, queue.oldest());
  }
}

void DramChannel::propose_timeouts(DramCycle from) {
  if (parameters_.page_policy != DramPagePolicy::timeout) return;
  const std::uint64_t wanted = reads_.hits() | reads_.others() | writes_.hits() | writes_.others();
  for (std::uint64_t rest = banks_.open_banks() & ~wanted; rest != 0; rest &= rest - 1) {
    const std::uint32_t bank = lowest(rest);
    propose(std::max({from, banks_.precharge_ok(), banks_.precharge_ok(bank),
                      banks_.last_column(bank) + parameters_.page_timeout}),
            when_free, Action::precharge, bank, DramQueue::none);
  }
}

void DramChannel::propose_second_activate(DramCycle from) {
  // Anything else that is ready goes first, as long as ACT-2 can still follow in time.
  if (plan_.cycle == from) {
    const DramTiming& timing = parameters_.timing;
    const std::uint32_t sync = banks_.wck_runs(from) ? 0 : 1;
    const std::uint32_t after =
        plan_.action == Action::column ? timing.column_slots + sync : timing.precharge_slots;
    if (from + after <= activate2_deadline_) return;
  }
  plan_ = {from, urgent, Action::activate2, activating_bank_, DramQueue::none};
}

void DramChannel::propose_all_bank_refresh(DramCycle from) {
  // Who was promised a row is served first; no new rows are opened.
  const DramQueue& queue = this->queue(drain_);
  starving_ = false;
  if (queue.owners() != 0) {
    propose_columns(from, queue.owners());
  } else if (activating_) {
    return;
  } else if (banks_.open_banks() != 0) {
    propose(std::max(from, banks_.precharge_all_ok()), urgent, Action::precharge_all, 0,
            DramQueue::none);
  } else {
    propose(std::max(from, banks_.refresh_ok(~std::uint64_t{0} >> (64 - parameters_.banks))),
            urgent, Action::refresh_all, 0, DramQueue::none);
  }
}

void DramChannel::propose_bank_refresh(DramCycle from) {
  const std::uint64_t set = refresh_set();
  if ((set & queue(drain_).owners()) != 0 || (activating_ && (set & bit(activating_bank_)) != 0)) {
    return;
  }
  std::uint64_t open = set & banks_.open_banks();
  if (open == 0) {
    propose(std::max({from, banks_.activate_ok(), banks_.refresh_ok(set)}), urgent,
            Action::refresh_banks, 0, DramQueue::none);
  }
  for (; open != 0; open &= open - 1) {
    const std::uint32_t bank = lowest(open);
    propose(std::max({from, banks_.precharge_ok(), banks_.precharge_ok(bank)}), urgent,
            Action::precharge, bank, DramQueue::none);
  }
}

DramCycle DramChannel::refresh_interval() const {
  return parameters_.refresh == DramRefresh::per_bank ? parameters_.timing.refi_bank
                                                      : parameters_.timing.refi;
}

std::uint64_t DramChannel::refresh_set() const {
  std::uint64_t set = 0;
  for (std::uint32_t bank = refresh_cursor_; bank < parameters_.banks;
       bank += parameters_.refresh_sets) {
    set |= bit(bank);
  }
  return set;
}

}  // namespace fm
