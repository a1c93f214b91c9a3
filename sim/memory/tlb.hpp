#pragma once
// A set-associative buffer of translations, least recently used first out.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/divider.hpp"

namespace fm {

/// Holds page numbers only: physical equals virtual, time is what is modelled.
class Tlb {
 public:
  /// `ways` divides `entries`; as many ways as entries: fully associative.
  Tlb(std::uint32_t entries, std::uint32_t ways)
      : ways_(ways), sets_(std::max(1u, entries / ways)), entries_(entries) {
    hints_.fill(&entries_[0]);
  }
  Tlb(const Tlb&) = delete;
  Tlb& operator=(const Tlb&) = delete;

  /// Whether the page is there; if so this is a use of it.
  bool find(std::uint64_t page) {
    Entry*& hint = hints_[page % hints_.size()];
    if (hint->page != page) {
      Entry* const set = set_of(page);
      Entry* const found =
          std::find_if(set, set + ways_, [=](const Entry& entry) { return entry.page == page; });
      if (found == set + ways_) return false;
      hint = found;
    }
    hint->use = ++uses_;
    return true;
  }
  /// Puts the page in place of the least recently used one of its set.
  void insert(std::uint64_t page) {
    Entry* const set = set_of(page);
    Entry* const oldest = std::min_element(
        set, set + ways_, [](const Entry& a, const Entry& b) { return a.use < b.use; });
    *oldest = {page, ++uses_};
  }

 private:
  struct Entry {
    std::uint64_t page = ~std::uint64_t{0};
    std::uint64_t use = 0;  ///< 0: empty
  };
  Entry* set_of(std::uint64_t page) {
    return &entries_[static_cast<std::size_t>(sets_.remainder(page)) * ways_];
  }
  std::uint32_t ways_;
  Divider sets_;
  std::vector<Entry> entries_;
  std::array<Entry*, 8> hints_;  ///< where a page that ends in these bits was found last
  std::uint64_t uses_ = 0;
};

}  // namespace fm
