#include "sim/memory/dram_channel.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr std::uint8_t bank_has_hit = 1;     // a queued request wants the open row
constexpr std::uint8_t bank_is_claimed = 2;  // its oldest request was seen
constexpr std::uint8_t bank_is_starved = 4;  // its oldest request may not be overtaken any more

}  // namespace

DramChannel::DramChannel(sc_core::sc_module_name name, const Clock& clock,
                         const DramParameters& parameters, std::uint32_t index, Outlet* outlet)
    : Block(name, clock, false),
      parameters_(parameters),
      index_(index),
      outlet_(outlet),
      banks_(parameters.banks),
      group_column_ok_(parameters.bank_groups),
      next_refresh_(parameters.t_refi),
      bank_marks_(parameters.banks) {
  queue_.reserve(parameters.queue);
}

void DramChannel::receive(const LineRequest& request, std::uint64_t local) {
  arrivals_.push({request, local});
  wake_by(request.time + parameters_.controller);
}

Ticks DramChannel::next_arrival() const {
  if (arrivals_.empty() || queue_.size() >= parameters_.queue) return never;
  return arrivals_.front().request.time + parameters_.controller;
}

Ticks DramChannel::advance(Ticks, Ticks end) {
  while (true) {
    // An arrival that waited for a place in the queue is late: no decision lies before the one that
    // made room.
    const Ticks next = std::max(std::min(planned_, next_arrival()), last_decision_);
    if (next >= end) return next;
    decide(next);
  }
}

void DramChannel::decide(Ticks time) {
  skip_refreshes(time);
  if (time >= next_refresh_) {
    // An idle channel refreshed when it was due; a busy one does so between two commands.
    refresh(queue_.empty() ? std::max(next_refresh_, last_decision_) : time);
  }
  last_decision_ = time;
  admit(time);
  planned_ = never;
  prepare_rows(time, &planned_);
  const std::size_t chosen = choose(time, &planned_);
  if (chosen == queue_.size()) return;
  issue(chosen, time);
  planned_ = queue_.empty() && arrivals_.empty() ? never : std::min(planned_, next_column_);
}

void DramChannel::admit(Ticks time) {
  while (next_arrival() <= time) {
    const Arrival& arrival = arrivals_.front();
    Entry entry;
    entry.request = arrival.request;
    locate(arrival.local, &entry);
    if (entry.request.kind == AccessKind::write) {
      const std::uint32_t granule = granule_bytes(parameters_.line_bytes);
      const std::uint32_t per_burst = std::max(1u, parameters_.burst_bytes / granule);
      std::uint64_t rest = entry.request.byte_mask;
      const std::uint64_t burst_mask =
          per_burst >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << per_burst) - 1;
      for (std::uint32_t bit = 0; bit < 64; bit += per_burst) {
        if ((rest & (burst_mask << bit)) != 0) ++entry.bursts;
      }
    } else {
      entry.bursts = (entry.request.bytes + parameters_.burst_bytes - 1) / parameters_.burst_bytes;
    }
    queue_.push_back(entry);
    arrivals_.pop();
  }
}

void DramChannel::locate(std::uint64_t local, Entry* entry) const {
  const std::uint32_t groups = parameters_.bank_groups, banks = parameters_.banks / groups;
  const std::uint64_t line = local / parameters_.line_bytes;
  const std::uint64_t page = line / groups / (parameters_.row_bytes / parameters_.line_bytes);
  entry->row = page / banks;
  entry->group = static_cast<std::uint32_t>(line % groups);
  // Rows permute the banks, so that power-of-two strides do not fall on one bank.
  entry->bank = entry->group * banks + static_cast<std::uint32_t>((page + entry->row) % banks);
}

void DramChannel::skip_refreshes(Ticks time) {
  // Refreshes of idle times cost nobody anything: only those due before the last interval are
  // passed over.
  if (time < next_refresh_ + parameters_.t_refi) return;
  const std::uint64_t skipped = (time - next_refresh_) / parameters_.t_refi;
  counts_.refreshes += skipped;
  next_refresh_ += skipped * parameters_.t_refi;
}

void DramChannel::refresh(Ticks time) {
  Ticks start = time;
  for (Bank& bank : banks_) {
    if (bank.row != closed) {
      start = std::max(start, std::max(time, bank.precharge_ok) + parameters_.t_rp);
      ++counts_.precharges;
      bank.row = closed;
    } else {
      start = std::max(start, bank.activate_ok);
    }
  }
  for (Bank& bank : banks_) bank.activate_ok = start + parameters_.t_rfc;
  ++counts_.refreshes;
  next_refresh_ += parameters_.t_refi;
}

void DramChannel::prepare_rows(Ticks time, Ticks* plan) {
  std::fill(bank_marks_.begin(), bank_marks_.end(), std::uint8_t{0});
  for (const Entry& entry : queue_) {
    if (banks_[entry.bank].row == entry.row) bank_marks_[entry.bank] |= bank_has_hit;
  }
  for (Entry& entry : queue_) {
    std::uint8_t& marks = bank_marks_[entry.bank];
    if ((marks & bank_is_claimed) != 0) continue;
    marks |= bank_is_claimed;
    Bank& bank = banks_[entry.bank];
    if (bank.row == entry.row) {
      if (!parameters_.first_ready) return;
      continue;
    }
    if (starved(entry, time)) {
      marks |= bank_is_starved;
    } else if ((marks & bank_has_hit) != 0 && parameters_.first_ready) {
      continue;
    }
    prepare_bank(bank, entry, time, plan);
    if (!parameters_.first_ready) return;
  }
}

void DramChannel::prepare_bank(Bank& bank, Entry& entry, Ticks time, Ticks* plan) {
  if (bank.row != closed) {
    if (bank.precharge_ok > time) {
      *plan = std::min(*plan, bank.precharge_ok);
      return;
    }
    bank.row = closed;
    bank.activate_ok = time + parameters_.t_rp;
    entry.row_case = RowCase::conflict;
    ++counts_.precharges;
  }
  const Ticks start = activate_time(bank);
  if (start > time) {
    *plan = std::min(*plan, start);
    return;
  }
  bank.row = entry.row;
  bank.column_ok = time + parameters_.t_rcd;
  bank.precharge_ok = time + parameters_.t_ras;
  if (entry.row_case == RowCase::hit) entry.row_case = RowCase::miss;
  activations_[activation_] = time;
  activation_ = (activation_ + 1) % 4;
  last_activation_ = time;
  ++counts_.activations;
}

Ticks DramChannel::activate_time(const Bank& bank) const {
  Ticks start = bank.activate_ok;
  if (counts_.activations >= 1) start = std::max(start, last_activation_ + parameters_.t_rrd);
  if (counts_.activations >= 4) {
    start = std::max(start, activations_[activation_] + parameters_.t_faw);
  }
  return start;
}

Ticks DramChannel::column_time(const Entry& entry) const {
  Ticks start =
      std::max({banks_[entry.bank].column_ok, next_column_, group_column_ok_[entry.group]});
  if (entry.request.kind == AccessKind::write) {
    const Ticks bus = read_data_end_ + parameters_.t_rtw;
    if (!last_write_ && bus > parameters_.t_cwl) start = std::max(start, bus - parameters_.t_cwl);
  } else if (last_write_) {
    start = std::max(start, write_data_end_ + parameters_.t_wtr);
  }
  return start;
}

std::size_t DramChannel::choose(Ticks time, Ticks* plan) const {
  std::size_t best = queue_.size();
  bool best_turns = false;
  // The oldest request, once starved, decides the direction: else a stream the other way could
  // overtake it for ever.
  const bool forced = !queue_.empty() && starved(queue_.front(), time);
  const bool forced_write = forced && queue_.front().request.kind == AccessKind::write;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Entry& entry = queue_[i];
    if (i != 0 && !parameters_.first_ready) break;
    const bool write = entry.request.kind == AccessKind::write;
    if (banks_[entry.bank].row != entry.row || (forced && write != forced_write)) continue;
    if ((bank_marks_[entry.bank] & bank_is_starved) != 0 && !starved(entry, time)) continue;
    const Ticks ready = column_time(entry);
    if (ready > time) {
      *plan = std::min(*plan, ready);
      continue;
    }
    const bool turns = write != last_write_;
    if (best == queue_.size() || (best_turns && !turns)) {
      best = i;
      best_turns = turns;
    }
  }
  return best;
}

void DramChannel::issue(std::size_t index, Ticks time) {
  const Entry entry = queue_[index];
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
  const LineRequest& request = entry.request;
  Bank& bank = banks_[entry.bank];
  const bool write = request.kind == AccessKind::write;
  const Ticks bus = entry.bursts * parameters_.burst;
  if (write != last_write_) ++counts_.turnarounds;
  last_write_ = write;
  next_column_ = time + bus;
  group_column_ok_[entry.group] = time + entry.bursts * parameters_.t_ccd_l;
  Ticks leaves = 0;
  if (write) {
    write_data_end_ = time + parameters_.t_cwl + bus;
    bank.precharge_ok = std::max(bank.precharge_ok, write_data_end_ + parameters_.t_wr);
    leaves = write_data_end_;
    counts_.write_bursts += entry.bursts;
  } else {
    read_data_end_ = time + parameters_.t_cl + bus;
    // Read to precharge counts from the last burst's command.
    bank.precharge_ok =
        std::max(bank.precharge_ok, time + bus - parameters_.burst + parameters_.t_rtp);
    leaves = read_data_end_ + parameters_.controller;
    counts_.read_bursts += entry.bursts;
    counts_.read_latency += read_data_end_ - request.time;
  }
  counts_.busy_ticks += bus;
  switch (entry.row_case) {
    case RowCase::hit:
      ++counts_.row_hits;
      break;
    case RowCase::miss:
      ++counts_.row_misses;
      break;
    case RowCase::conflict:
      ++counts_.row_conflicts;
      break;
  }
  const std::size_t client = index_of(request.client), kind = index_of(request.kind);
  ++counts_.requests[client][kind];
  counts_.bursts[client][kind] += entry.bursts;
  counts_.bytes[client][kind] += request.bytes;
  outlet_->answer(index_, request, leaves);
}

void DramChannel::finish(Ticks time) {
  if (time < next_refresh_) return;
  const std::uint64_t due = (time - next_refresh_) / parameters_.t_refi + 1;
  counts_.refreshes += due;
  next_refresh_ += due * parameters_.t_refi;
}

void DramChannel::append_waits(std::vector<Wait>* waits) const {
  if (idle()) return;
  waits->push_back({"dram channel " + std::to_string(index_),
                    std::to_string(queue_.size()) + " requests scheduled, " +
                        std::to_string(arrivals_.size()) + " before its queue",
                    {},
                    queue_.empty() ? arrivals_.front().request : queue_.front().request});
}

}  // namespace fm
