#pragma once
// The lines of one cache slice: which line is where, least recently used first out, byte masks.

#include <cstdint>
#include <vector>

#include "sim/memory/divider.hpp"
#include "sim/memory/line_request.hpp"

namespace fm {

/// Sets of ways. A line is known by its number (address / line bytes); its set comes from `local`,
/// the number without the part that selects the slice, so that every set is used.
///
/// Each field is an array of its own. What every look-up reads (tags, uses, states) is 9 bytes a
/// line; byte masks are touched only for lines that were written or are valid in part.
class CacheArray {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  /// `lines`: a multiple of `ways`; 0: no cache, nothing is ever found.
  CacheArray(std::uint64_t lines, std::uint32_t ways, std::uint32_t line_bytes);

  /// Places, those that only pad a set included.
  std::uint32_t size() const { return static_cast<std::uint32_t>(states_.size()); }
  /// Place of a line, or `none`.
  std::uint32_t find(std::uint64_t number, std::uint64_t local) const;
  /// Least recently used place among the first `ways` of the line's set that is not being fetched,
  /// or `none`.
  std::uint32_t victim(std::uint64_t local, std::uint32_t ways) const;
  /// Puts a line there: nothing of it is valid yet.
  void take(std::uint32_t place, std::uint64_t number, std::uint64_t local);
  void clear(std::uint32_t place);
  /// Now is its last use. For lines being fetched this counts from finish_fetch() on.
  void touch(std::uint32_t place);

  bool holds_line(std::uint32_t place) const { return states_[place] != empty; }
  std::uint64_t number(std::uint32_t place) const { return numbers_[place]; }
  std::uint64_t valid(std::uint32_t place) const {
    return (states_[place] & full) != 0 ? full_mask_ : valid_[place];
  }
  bool is_dirty(std::uint32_t place) const { return (states_[place] & dirty) != 0; }
  std::uint64_t dirty_mask(std::uint32_t place) const {
    return is_dirty(place) ? dirty_[place] : 0;
  }
  MemoryClient owner(std::uint32_t place) const { return owners_[place]; }
  /// Bytes of `mask` are written on behalf of `client`.
  void write(std::uint32_t place, std::uint64_t mask, MemoryClient client);
  /// Bytes of `mask` are valid; they need not be written back.
  void validate(std::uint32_t place, std::uint64_t mask);

  bool is_fetched(std::uint32_t place) const { return (states_[place] & fetched) != 0; }
  std::uint32_t mshr(std::uint32_t place) const { return mshrs_[place]; }
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

 private:
  static constexpr std::uint8_t empty = 0, held = 1, full = 2, dirty = 4, fetched = 8;
  static constexpr std::uint32_t not_a_victim = 0xffffffff;  ///< a use later than any

  std::size_t first_of(std::uint64_t local) const {
    return static_cast<std::size_t>(sets_.remainder(local)) * stride_;
  }
  std::uint32_t next_use();
  void compact_uses();

  std::uint32_t ways_;
  std::uint32_t stride_;  ///< places a set takes: ways, rounded up to a multiple of four
  Divider sets_;
  std::uint64_t full_mask_;
  std::vector<std::uint32_t> tags_;  ///< low bits of local / sets
  std::vector<std::uint32_t> uses_;  ///< ascending with time; 0: never
  std::vector<std::uint8_t> states_;
  std::vector<std::uint16_t> mshrs_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> valid_;       ///< unless full
  std::vector<std::uint64_t> dirty_;       ///< if dirty
  std::vector<MemoryClient> owners_;       ///< who wrote it last
  std::vector<std::uint32_t> fetch_uses_;  ///< by MSHR: last use of the line it fetches
  bool tags_are_exact_ = true;             ///< no line yet whose tag lost bits
  std::uint32_t last_use_ = 0;
};

}  // namespace fm
