#include "sim/memory/dram_queue.hpp"

namespace fm {

DramQueue::DramQueue(std::uint32_t banks, std::uint32_t capacity)
    : capacity_(capacity), entries_(capacity + banks), lists_(banks) {
  for (std::size_t i = entries_.size(); i-- != 0;) free_.push_back(static_cast<Index>(i));
}

DramQueue::Index DramQueue::insert(const LineRequest& request, const DramPlace& place,
                                   std::uint64_t order, DramCycle entered, std::uint32_t bursts,
                                   bool hit) {
  const Index index = free_.back();
  free_.pop_back();
  DramEntry& entry = entries_[index];
  entry.request = request;
  entry.order = order;
  entry.entered = entered;
  entry.place = place;
  entry.bursts = entry.all_bursts = bursts;
  entry.row_case = DramRowCase::hit;
  entry.owner = false;
  entry.older = newest_;
  entry.newer = none;
  (newest_ == none ? oldest_ : entries_[newest_].newer) = index;
  newest_ = index;
  List& list = lists_[place.bank][hit ? 0 : 1];
  if (list.first == none) orders_[hit ? 0 : 1][place.bank] = order;
  append(list, index);
  (hit ? hits_ : others_) |= std::uint64_t{1} << place.bank;
  ++waiting_;
  ++size_;
  return index;
}

void DramQueue::erase(Index index) {
  DramEntry& entry = entries_[index];
  (entry.older == none ? oldest_ : entries_[entry.older].newer) = entry.newer;
  (entry.newer == none ? newest_ : entries_[entry.newer].older) = entry.older;
  const std::uint32_t bank = entry.place.bank;
  for (List& list : lists_[bank]) {
    Index before = none, at = list.first;
    while (at != none && at != index) {
      before = at;
      at = entries_[at].newer_in_bank;
    }
    if (at == none) continue;
    (before == none ? list.first : entries_[before].newer_in_bank) = entry.newer_in_bank;
    if (list.last == index) list.last = before;
    break;
  }
  if (entry.owner) {
    owners_ &= ~(std::uint64_t{1} << bank);
  } else {
    --waiting_;
  }
  --size_;
  mark(bank);
  free_.push_back(index);
}

void DramQueue::open_row(std::uint32_t bank, std::uint64_t row, Index owner) {
  entries_[owner].owner = true;
  owners_ |= std::uint64_t{1} << bank;
  --waiting_;
  split(bank, row);
}

void DramQueue::split(std::uint32_t bank, std::uint64_t row) {
  auto& [hits, others] = lists_[bank];
  Index at = others.first;
  others = {};
  while (at != none) {
    const Index next = entries_[at].newer_in_bank;
    append(entries_[at].place.row == row ? hits : others, at);
    at = next;
  }
  mark(bank);
}

void DramQueue::close_row(std::uint32_t bank) {
  auto& [hits, others] = lists_[bank];
  if (hits.first == none) return;
  const std::uint64_t bank_bit = std::uint64_t{1} << bank;
  if ((owners_ & bank_bit) != 0) {  // the promise is broken
    owners_ &= ~bank_bit;
    for (Index at = hits.first; at != none; at = entries_[at].newer_in_bank) {
      if (!entries_[at].owner) continue;
      entries_[at].owner = false;
      ++waiting_;
    }
  }
  Index left = hits.first, right = others.first;
  List merged;
  while (left != none || right != none) {
    const bool take_left =
        right == none || (left != none && entries_[left].order < entries_[right].order);
    Index& from = take_left ? left : right;
    const Index taken = from;
    from = entries_[taken].newer_in_bank;
    append(merged, taken);
  }
  hits = {};
  others = merged;
  mark(bank);
}

DramQueue::Index DramQueue::find(std::uint32_t bank, std::uint64_t row,
                                 std::uint32_t column) const {
  Index found = none;
  for (const List& list : lists_[bank]) {
    for (Index at = list.first; at != none; at = entries_[at].newer_in_bank) {
      const DramPlace& place = entries_[at].place;
      if (place.row == row && place.column == column) found = at;
    }
  }
  return found;
}

void DramQueue::append(List& list, Index index) {
  entries_[index].newer_in_bank = none;
  (list.first == none ? list.first : entries_[list.last].newer_in_bank) = index;
  list.last = index;
}

void DramQueue::mark(std::uint32_t bank) {
  const std::uint64_t bit = std::uint64_t{1} << bank;
  auto& [hits, others] = lists_[bank];
  hits_ = hits.first != none ? hits_ | bit : hits_ & ~bit;
  others_ = others.first != none ? others_ | bit : others_ & ~bit;
  if (hits.first != none) orders_[0][bank] = entries_[hits.first].order;
  if (others.first != none) orders_[1][bank] = entries_[others.first].order;
}

}  // namespace fm
