#pragma once
// The lines of one cache slice: which line is where, least recently used first out, byte masks.

#include <boost/align/aligned_allocator.hpp>
#include <cstdint>
#include <vector>

#include "sim/memory/divider.hpp"
#include "sim/memory/line_request.hpp"

namespace fm {

/// Sets of ways. A line is known by its number within the slice (`local`: the number without the
/// part that selects the slice, so that every set is used).
///
/// Each field is an array of its own. Look-ups and replacement read tags, uses and states: 9 bytes
/// a line, of 16 ways three lines of the host's cache. Byte masks are touched only for lines that
/// were written or are valid in part; a line's number follows from its place and tag.
class CacheArray {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  /// `lines`: a multiple of `ways`; 0: no cache, nothing is ever found.
  CacheArray(std::uint64_t lines, std::uint32_t ways, std::uint32_t line_bytes);

  /// Places, those that only pad a set included.
  std::uint32_t size() const { return static_cast<std::uint32_t>(states_.size()); }
  /// Place of a line, or `none`.
  std::uint32_t find(std::uint64_t local) const;
  /// Least recently used place among the first `ways` of the line's set that is not being fetched,
  /// or `none`.
  std::uint32_t victim(std::uint64_t local, std::uint32_t ways) const;
  /// Puts a line there: nothing of it is valid yet.
  void take(std::uint32_t place, std::uint64_t local);
  void clear(std::uint32_t place);
  /// Now is its last use. For lines being fetched this counts from finish_fetch() on.
  void touch(std::uint32_t place);

  /// Lines that are held, and were last used before this was called last.
  void mark_uses() { mark_ = last_use_; }
  std::uint64_t lines_unused_since_mark() const;

  bool holds_line(std::uint32_t place) const { return states_[place] != empty; }
  /// Of the line that is there.
  std::uint64_t local(std::uint32_t place) const;
  std::uint64_t valid(std::uint32_t place) const {
    const std::uint8_t state = states_[place];
    return (state & full) != 0 ? full_mask_ : (state & valid_in_part) != 0 ? valid_[place] : 0;
  }
  bool is_dirty(std::uint32_t place) const { return (states_[place] & dirty) != 0; }
  std::uint64_t dirty_mask(std::uint32_t place) const {
    const std::uint8_t state = states_[place];
    return (state & dirty) == 0 ? 0 : (state & dirty_in_part) != 0 ? dirty_[place] : full_mask_;
  }
  /// Who wrote it last.
  MemoryClient owner(std::uint32_t place) const {
    return static_cast<MemoryClient>(states_[place] >> owner_shift);
  }
  /// Bytes of `mask` are written on behalf of `client`.
  void write(std::uint32_t place, std::uint64_t mask, MemoryClient client);
  /// Bytes of `mask` are valid; they need not be written back.
  void validate(std::uint32_t place, std::uint64_t mask);

  bool is_fetched(std::uint32_t place) const { return uses_[place] >= first_fetch; }
  std::uint32_t mshr(std::uint32_t place) const { return uses_[place] - first_fetch; }
  /// `mshr` < 65536.
  void start_fetch(std::uint32_t place, std::uint32_t mshr);
  /// The whole line is there.
  void finish_fetch(std::uint32_t place);

  /// Brings what find() and victim() will read into the host's caches.
  void prefetch(std::uint64_t local) const {
    if (states_.empty()) return;
    const std::size_t first = first_of(local);
    __builtin_prefetch(&tags_[first]);
    __builtin_prefetch(&uses_[first]);
    __builtin_prefetch(&states_[first]);
  }
  /// The same for finish_fetch().
  void prefetch_place(std::uint32_t place) const {
    __builtin_prefetch(&uses_[place]);
    __builtin_prefetch(&states_[place]);
  }

 private:
  // A state's bits; the owner's number lies above them.
  static constexpr std::uint8_t empty = 0, held = 1, full = 2, dirty = 4;
  static constexpr std::uint8_t valid_in_part = 8, dirty_in_part = 16;  ///< a mask says which
  static constexpr std::uint32_t owner_shift = 5;
  static_assert(memory_client_count <= 8, "an owner has three bits");
  /// Uses from here on are MSHRs of lines being fetched: later than any use, so no victims.
  static constexpr std::uint32_t first_fetch = 0xffff0000;
  template <class Item>
  using Aligned = std::vector<Item, boost::alignment::aligned_allocator<Item, 64>>;

  std::size_t first_of(std::uint64_t local) const {
    return static_cast<std::size_t>(sets_.remainder(local)) * stride_;
  }
  std::uint32_t next_use();
  void compact_uses();
  std::uint32_t high_tag(std::uint32_t place) const {
    return high_tags_.empty() ? 0 : high_tags_[place];
  }

  std::uint32_t ways_;
  std::uint32_t stride_;  ///< places a set takes: ways, rounded up to a multiple of four
  Divider sets_;
  Divider places_;  ///< of a set
  std::uint64_t full_mask_;
  Aligned<std::uint32_t> tags_;  ///< low bits of local / sets
  Aligned<std::uint32_t> uses_;  ///< ascending with time; 0: never
  Aligned<std::uint8_t> states_;
  std::vector<std::uint64_t> valid_;       ///< if valid in part
  std::vector<std::uint64_t> dirty_;       ///< if dirty in part
  std::vector<std::uint32_t> high_tags_;   ///< high bits; none as long as all are 0
  std::vector<std::uint32_t> fetch_uses_;  ///< by MSHR: last use of the line it fetches
  std::uint32_t last_use_ = 0;
  std::uint32_t mark_ = 0;  ///< of uses
};

}  // namespace fm
