#include "sim/memory/cache_array.hpp"

#include <algorithm>

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

}  // namespace

CacheArray::CacheArray(std::uint64_t lines, std::uint32_t ways, std::uint32_t line_bytes)
    : ways_(ways),
      stride_((ways + 3) / 4 * 4),
      sets_(std::max<std::uint64_t>(1, lines / ways)),
      full_mask_(full_line_mask(line_bytes)) {
  const std::size_t places = lines == 0 ? 0 : static_cast<std::size_t>(sets_.divisor()) * stride_;
  tags_.resize(places);
  uses_.resize(places);
  states_.resize(places, empty);
  mshrs_.resize(places);
  numbers_.resize(places);
  valid_.resize(places);
  dirty_.resize(places);
  owners_.resize(places);
}

std::uint32_t CacheArray::find(std::uint64_t number, std::uint64_t local) const {
  if (states_.empty()) return none;
  const std::uint64_t tag = sets_.quotient(local);
  const bool exact = tags_are_exact_ && tag <= 0xffffffff;
  const std::size_t first = first_of(local);
  for (std::size_t begin = first; begin < first + stride_; begin += 4) {
    std::uint32_t equal = equal_of_four(&tags_[begin], static_cast<std::uint32_t>(tag));
    for (; equal != 0; equal &= equal - 1) {
      const std::size_t place = begin + static_cast<std::uint32_t>(__builtin_ctz(equal));
      if (states_[place] == empty) continue;
      if (exact || numbers_[place] == number) return static_cast<std::uint32_t>(place);
    }
  }
  return none;
}

std::uint32_t CacheArray::victim(std::uint64_t local, std::uint32_t ways) const {
  const std::size_t first = first_of(local);
  const std::uint32_t count = std::min(ways_, ways);
  const std::uint32_t* const uses = &uses_[first];
  std::uint32_t oldest = 0, oldest_use = not_a_victim;
  for (std::uint32_t way = 0; way < count; ++way) {
    const bool older = uses[way] < oldest_use;
    oldest = older ? way : oldest;
    oldest_use = older ? uses[way] : oldest_use;
  }
  return oldest_use == not_a_victim ? none : static_cast<std::uint32_t>(first) + oldest;
}

void CacheArray::take(std::uint32_t place, std::uint64_t number, std::uint64_t local) {
  const std::uint64_t tag = sets_.quotient(local);
  if (tag > 0xffffffff) tags_are_exact_ = false;
  tags_[place] = static_cast<std::uint32_t>(tag);
  numbers_[place] = number;
  states_[place] = held;
  valid_[place] = 0;
  uses_[place] = next_use();
}

void CacheArray::clear(std::uint32_t place) {
  states_[place] = empty;
  uses_[place] = 0;
}

void CacheArray::touch(std::uint32_t place) {
  const std::uint32_t use = next_use();
  if (is_fetched(place)) {
    fetch_uses_[mshrs_[place]] = use;
  } else {
    uses_[place] = use;
  }
}

void CacheArray::write(std::uint32_t place, std::uint64_t mask, MemoryClient client) {
  dirty_[place] = dirty_mask(place) | mask;
  states_[place] |= dirty;
  owners_[place] = client;
  validate(place, mask);
}

void CacheArray::validate(std::uint32_t place, std::uint64_t mask) {
  if ((states_[place] & full) != 0) return;
  valid_[place] |= mask;
  if (valid_[place] == full_mask_) states_[place] |= full;
}

void CacheArray::start_fetch(std::uint32_t place, std::uint32_t mshr) {
  if (mshr >= fetch_uses_.size()) fetch_uses_.resize(mshr + 1);
  fetch_uses_[mshr] = uses_[place];
  uses_[place] = not_a_victim;
  mshrs_[place] = static_cast<std::uint16_t>(mshr);
  states_[place] |= fetched;
}

void CacheArray::finish_fetch(std::uint32_t place) {
  uses_[place] = fetch_uses_[mshrs_[place]];
  states_[place] = static_cast<std::uint8_t>((states_[place] & ~fetched) | full);
}

std::uint32_t CacheArray::next_use() {
  if (last_use_ == not_a_victim - 1) compact_uses();
  return ++last_use_;
}

void CacheArray::compact_uses() {
  // Once in four thousand million uses: what counts is their order within a set and, for lines
  // being fetched, that they are later than all others.
  std::vector<std::uint32_t> sorted = uses_;
  sorted.insert(sorted.end(), fetch_uses_.begin(), fetch_uses_.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto rank = [&sorted](std::uint32_t use) {
    if (use == 0 || use == not_a_victim) return use;
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), use) - sorted.begin();
    return static_cast<std::uint32_t>(place) + 1;
  };
  for (std::uint32_t& use : uses_) use = rank(use);
  for (std::uint32_t& use : fetch_uses_) use = rank(use);
  last_use_ = static_cast<std::uint32_t>(sorted.size()) + 1;
}

}  // namespace fm
