#include "sim/memory/cache_array.hpp"

#include <algorithm>
#include <array>
#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace fm {
namespace {

/// Bit i: the i-th of four tags equals `tag`.
std::uint32_t equal_of_four(const std::uint32_t* tags, std::uint32_t tag) {
#ifdef __SSE2__
  const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags));
  const __m128i equal = _mm_cmpeq_epi32(four, _mm_set1_epi32(static_cast<int>(tag)));
  return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(equal)));
#else
  std::uint32_t equal = 0;
  for (std::uint32_t i = 0; i < 4; ++i) equal |= static_cast<std::uint32_t>(tags[i] == tag) << i;
  return equal;
#endif
}

/// Of `count` uses the first that is lowest, if it is below `bound`; else CacheArray::none.
std::uint32_t first_lowest(const std::uint32_t* uses, std::uint32_t count, std::uint32_t bound) {
  std::uint32_t place = CacheArray::none, lowest = bound, i = 0;
#ifdef __SSE2__
  if (count >= 4) {
    // Four at a time. SSE2 compares signed numbers only, so all of them are moved by half their
    // range.
    const __m128i half = _mm_set1_epi32(std::numeric_limits<std::int32_t>::min());
    __m128i low = _mm_xor_si128(_mm_set1_epi32(static_cast<int>(bound)), half);
    __m128i at = _mm_set1_epi32(-1), now = _mm_setr_epi32(0, 1, 2, 3);
    for (; i + 4 <= count; i += 4, now = _mm_add_epi32(now, _mm_set1_epi32(4))) {
      const __m128i four =
          _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(uses + i)), half);
      const __m128i lower = _mm_cmpgt_epi32(low, four);
      low = _mm_or_si128(_mm_and_si128(lower, four), _mm_andnot_si128(lower, low));
      at = _mm_or_si128(_mm_and_si128(lower, now), _mm_andnot_si128(lower, at));
    }
    std::array<std::uint32_t, 4> lows, places;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(lows.data()), _mm_xor_si128(low, half));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(places.data()), at);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const bool first = lows[lane] < lowest || (lows[lane] == lowest && places[lane] < place);
      place = first ? places[lane] : place;
      lowest = first ? lows[lane] : lowest;
    }
  }
#endif
  for (; i < count; ++i) {
    const bool lower = uses[i] < lowest;
    place = lower ? i : place;
    lowest = lower ? uses[i] : lowest;
  }
  return place;
}

}  // namespace

CacheArray::CacheArray(std::uint64_t lines, std::uint32_t ways, std::uint32_t line_bytes)
    : ways_(ways),
      stride_((ways + 3) / 4 * 4),
      sets_(std::max<std::uint64_t>(1, lines / ways)),
      places_(stride_),
      full_mask_(full_line_mask(line_bytes)) {
  const std::size_t places = lines == 0 ? 0 : static_cast<std::size_t>(sets_.divisor()) * stride_;
  tags_.resize(places);
  uses_.resize(places);
  states_.resize(places, empty);
  valid_.resize(places);
  dirty_.resize(places);
}

std::uint32_t CacheArray::find(std::uint64_t local) const {
  if (states_.empty()) return none;
  const std::uint64_t tag = sets_.quotient(local);
  const std::size_t first = first_of(local);
  for (std::size_t begin = first; begin < first + stride_; begin += 4) {
    std::uint32_t equal = equal_of_four(&tags_[begin], static_cast<std::uint32_t>(tag));
    for (; equal != 0; equal &= equal - 1) {
      const auto place =
          static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(__builtin_ctz(equal));
      if (states_[place] != empty && high_tag(place) == tag >> 32) return place;
    }
  }
  return none;
}

std::uint32_t CacheArray::victim(std::uint64_t local, std::uint32_t ways) const {
  const std::size_t first = first_of(local);
  const std::uint32_t way = first_lowest(&uses_[first], std::min(ways_, ways), first_fetch);
  return way == none ? none : static_cast<std::uint32_t>(first) + way;
}

void CacheArray::take(std::uint32_t place, std::uint64_t local) {
  const std::uint64_t tag = sets_.quotient(local);
  if (tag >> 32 != 0 && high_tags_.empty()) high_tags_.resize(states_.size());
  tags_[place] = static_cast<std::uint32_t>(tag);
  if (!high_tags_.empty()) high_tags_[place] = static_cast<std::uint32_t>(tag >> 32);
  states_[place] = held;
  uses_[place] = next_use();
}

std::uint64_t CacheArray::local(std::uint32_t place) const {
  const std::uint64_t tag = std::uint64_t{high_tag(place)} << 32 | tags_[place];
  return tag * sets_.divisor() + places_.quotient(place);
}

void CacheArray::clear(std::uint32_t place) {
  states_[place] = empty;
  uses_[place] = 0;
}

void CacheArray::touch(std::uint32_t place) {
  const std::uint32_t use = next_use();
  (is_fetched(place) ? fetch_uses_[mshr(place)] : uses_[place]) = use;
}

void CacheArray::write(std::uint32_t place, std::uint64_t mask, MemoryClient client) {
  std::uint32_t state = states_[place] & ((1u << owner_shift) - 1u) & ~std::uint32_t{dirty_in_part};
  if (mask != full_mask_) {
    const std::uint64_t written = dirty_mask(place) | mask;
    if (written != full_mask_) {
      dirty_[place] = written;
      state |= dirty_in_part;
    }
  }
  state |= dirty | static_cast<std::uint32_t>(client) << owner_shift;
  states_[place] = static_cast<std::uint8_t>(state);
  validate(place, mask);
}

void CacheArray::validate(std::uint32_t place, std::uint64_t mask) {
  if ((states_[place] & full) != 0) return;
  const std::uint64_t known = valid(place) | mask;
  if (known == full_mask_) {
    states_[place] |= full;
  } else {
    valid_[place] = known;
    states_[place] |= valid_in_part;
  }
}

void CacheArray::start_fetch(std::uint32_t place, std::uint32_t mshr) {
  if (mshr >= fetch_uses_.size()) fetch_uses_.resize(mshr + 1);
  fetch_uses_[mshr] = uses_[place];
  uses_[place] = first_fetch + mshr;
}

void CacheArray::finish_fetch(std::uint32_t place) {
  uses_[place] = fetch_uses_[mshr(place)];
  states_[place] |= full;
}

std::uint64_t CacheArray::lines_unused_since_mark() const {
  std::uint64_t lines = 0;
  for (std::size_t place = 0; place < states_.size(); ++place) {
    lines += states_[place] != empty && uses_[place] <= mark_ ? 1 : 0;
  }
  return lines;
}

std::uint32_t CacheArray::next_use() {
  if (last_use_ == first_fetch - 1) compact_uses();
  return ++last_use_;
}

void CacheArray::compact_uses() {
  // Once in four thousand million uses: what counts is their order within a set.
  std::vector<std::uint32_t> sorted(uses_.begin(), uses_.end());
  sorted.insert(sorted.end(), fetch_uses_.begin(), fetch_uses_.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto rank = [&sorted](std::uint32_t use) {
    if (use == 0 || use >= first_fetch) return use;
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), use) - sorted.begin();
    return static_cast<std::uint32_t>(place) + 1;
  };
  for (std::uint32_t& use : uses_) use = rank(use);
  for (std::uint32_t& use : fetch_uses_) use = rank(use);
  const auto later = std::upper_bound(sorted.begin(), sorted.end(), mark_) - sorted.begin();
  mark_ = static_cast<std::uint32_t>(later);
  last_use_ = static_cast<std::uint32_t>(sorted.size()) + 1;
}

}  // namespace fm
