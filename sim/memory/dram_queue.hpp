#pragma once
// The requests of one direction that a DRAM channel's scheduler looks at, sorted by bank.

#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/dram_mapping.hpp"

namespace fm {

enum class DramRowCase : std::uint8_t { hit, miss, conflict };

struct DramEntry {
  LineRequest request;
  std::uint64_t order = 0;  ///< of entry into the channel: lower is older
  DramCycle entered = 0;
  DramPlace place;
  std::uint32_t bursts = 0;  ///< still to move
  std::uint32_t all_bursts = 0;
  DramRowCase row_case = DramRowCase::hit;
  bool owner = false;  ///< its bank's row was opened for it
  std::uint16_t newer_in_bank = 0, older = 0, newer = 0;
};

/// By bank two lists in order of age: requests for the open row (hits) and all others. Bit masks
/// say which banks have any, so that a scheduling decision looks at banks with work only. The
/// bank's owner, the request its row was opened for, no longer takes a place of the bounded queue.
class DramQueue {
 public:
  using Index = std::uint16_t;
  static constexpr Index none = 0xffff;

  DramQueue(std::uint32_t banks, std::uint32_t capacity);

  bool full() const { return waiting_ >= capacity_; }
  bool empty() const { return oldest_ == none; }
  std::uint32_t waiting() const { return waiting_; }
  std::uint32_t size() const { return size_; }

  /// `order`, `entered` and `bursts` as in DramEntry; `hit`: its bank has its row open.
  Index insert(const LineRequest& request, const DramPlace& place, std::uint64_t order,
               DramCycle entered, std::uint32_t bursts, bool hit);
  void erase(Index index);
  /// The bank opened `row` for its oldest other request.
  void open_row(std::uint32_t bank, std::uint64_t row, Index owner);
  void close_row(std::uint32_t bank);
  /// The bank opened `row` on behalf of the other direction.
  void row_opened_elsewhere(std::uint32_t bank, std::uint64_t row) { split(bank, row); }

  DramEntry& operator[](Index index) { return entries_[index]; }
  const DramEntry& operator[](Index index) const { return entries_[index]; }
  std::uint64_t hits() const { return hits_; }      ///< banks with hits
  std::uint64_t others() const { return others_; }  ///< banks with requests for another row
  std::uint64_t owners() const { return owners_; }  ///< banks whose owner still waits
  Index first_hit(std::uint32_t bank) const { return lists_[bank][0].first; }
  Index first_other(std::uint32_t bank) const { return lists_[bank][1].first; }
  /// Ages of the two; only where there is one.
  std::uint64_t hit_order(std::uint32_t bank) const { return orders_[0][bank]; }
  std::uint64_t other_order(std::uint32_t bank) const { return orders_[1][bank]; }
  Index oldest() const { return oldest_; }
  /// The youngest request of `bank` for the same row and column, or none.
  Index find(std::uint32_t bank, std::uint64_t row, std::uint32_t column) const;

 private:
  struct List {
    Index first = none, last = none;
  };
  void append(List& list, Index index);
  void split(std::uint32_t bank, std::uint64_t row);
  /// After changes to a bank's lists.
  void mark(std::uint32_t bank);

  const std::uint32_t capacity_;
  std::uint32_t waiting_ = 0, size_ = 0;
  std::vector<DramEntry> entries_;
  std::vector<Index> free_;
  std::vector<std::array<List, 2>> lists_;                 ///< by bank: hits, others
  std::array<std::array<std::uint64_t, 64>, 2> orders_{};  ///< of the lists' first requests
  std::uint64_t hits_ = 0, others_ = 0, owners_ = 0;
  Index oldest_ = none, newest_ = none;
};

}  // namespace fm
