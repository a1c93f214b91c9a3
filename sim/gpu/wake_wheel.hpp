#pragma once
// Which waves wake at which cycle.

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/gpu/core_link.hpp"
#include "sim/gpu/wave_order.hpp"

namespace fm {

/// A calendar of the next `size` cycles, small enough to stay in the host's cache, and a set of the
/// few waves that wake later.
class WakeWheel {
 public:
  /// `cycle` > `now`. A wave is in the wheel at most once.
  void insert(std::uint32_t wave, Cycle cycle, Cycle now) {
    if (cycle - now >= size) {
      late_.add(wave);
      wake_[wave] = cycle;
      late_first_ = std::min(late_first_, cycle);
      return;
    }
    const auto bucket = static_cast<std::uint32_t>(cycle % size);
    buckets_[bucket].add(wave);
    occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
  }
  /// First cycle >= `now` that has waves; `no_cycle` when there is none. `now`: of the last take()
  /// or insert(), or later, with nothing skipped.
  Cycle next(Cycle now) const {
    const auto start = static_cast<std::uint32_t>(now % size);
    std::uint32_t word = start / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (start % 64));
    for (std::uint32_t tried = 0; bits == 0; ++tried) {
      if (tried == words) return late_first_;
      word = (word + 1) % words;
      bits = occupied_[word];
    }
    const std::uint32_t found = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    return std::min(now + (found + size - start) % size, late_first_);
  }
  /// Removes and returns the waves that wake at `now`.
  WaveSet take(Cycle now) {
    const auto bucket = static_cast<std::uint32_t>(now % size);
    WaveSet waves = buckets_[bucket];
    buckets_[bucket] = {};
    occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    if (late_first_ <= now) take_late(now, &waves);
    return waves;
  }

 private:
  static constexpr std::uint32_t size = 128, words = size / 64;
  void take_late(Cycle now, WaveSet* waves) {
    late_first_ = no_cycle;
    for (WaveSet rest = late_; !rest.empty();) {
      const std::uint32_t wave = rest.take_lowest();
      if (wake_[wave] == now) {
        late_.remove(wave);
        waves->add(wave);
      } else {
        late_first_ = std::min(late_first_, wake_[wave]);
      }
    }
  }
  std::array<std::uint64_t, words> occupied_{};
  WaveSet late_;
  Cycle late_first_ = no_cycle;
  std::array<WaveSet, size> buckets_{};
  std::array<Cycle, maximum_waves> wake_{};  ///< of late waves
};

}  // namespace fm
