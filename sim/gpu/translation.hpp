#pragma once
// Address translation of one core, on the path of its first-level misses.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/memory/divider.hpp"

namespace fm {

/// A TLB of 4 ways, least recently used. Holds no addresses: physical equals virtual, only the time
/// is modelled.
class Translation {
 public:
  Translation(std::uint32_t entries, std::uint32_t page_bytes, std::uint32_t walk_latency)
      : page_(page_bytes),
        walk_latency_(walk_latency),
        ways_(std::min(4u, entries)),
        sets_(std::max(1u, entries / ways_)),
        entries_(static_cast<std::size_t>(sets_.divisor()) * ways_) {}

  /// Cycles until the translation of `address` is there: 0 on a hit.
  std::uint32_t translate(std::uint64_t address) {
    const std::uint64_t page = page_.quotient(address);
    ++requests_;
    Entry* set = &entries_[static_cast<std::size_t>(sets_.remainder(page)) * ways_];
    Entry* oldest = set;
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (set[way].page == page) {
        set[way].last_use = ++uses_;
        ++hits_;
        return 0;
      }
      if (set[way].last_use < oldest->last_use) oldest = &set[way];
    }
    ++walks_;
    *oldest = {page, ++uses_};
    return walk_latency_;
  }

  const std::uint64_t& requests() const { return requests_; }
  const std::uint64_t& hits() const { return hits_; }
  const std::uint64_t& walks() const { return walks_; }

 private:
  struct Entry {
    std::uint64_t page = ~std::uint64_t{0};
    std::uint64_t last_use = 0;
  };
  Divider page_;
  std::uint32_t walk_latency_, ways_;
  Divider sets_;
  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
  std::uint64_t requests_ = 0, hits_ = 0, walks_ = 0;
};

}  // namespace fm
