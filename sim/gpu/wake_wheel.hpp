#pragma once
// Which waves wake at which cycle.

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/gpu/core_link.hpp"
#include "sim/gpu/wave_order.hpp"

namespace fm {

/// A calendar of `size` cycles; a wave that wakes later sits at its far end and is put back when
/// reached.
class WakeWheel {
 public:
  bool empty() const { return count_ == 0; }
  /// `cycle` > `now`. A wave is in the wheel at most once.
  void insert(std::uint32_t wave, Cycle cycle, Cycle now) {
    wake_[wave] = cycle;
    place(wave, std::min(cycle, now + size - 1));
  }
  /// First cycle >= `now` that has waves; `no_cycle` when there is none.
  Cycle next(Cycle now) const {
    if (count_ == 0) return no_cycle;
    const auto start = static_cast<std::uint32_t>(now % size);
    std::uint32_t word = start / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (start % 64));
    while (bits == 0) {
      word = (word + 1) % words;
      bits = occupied_[word];
    }
    const std::uint32_t found = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    return now + (found + size - start) % size;
  }
  /// Removes and returns the waves that wake at `now`.
  WaveSet take(Cycle now) {
    const auto bucket = static_cast<std::uint32_t>(now % size);
    if ((occupied_[bucket / 64] >> (bucket % 64) & 1) == 0) return {};
    WaveSet waves = buckets_[bucket];
    buckets_[bucket] = {};
    occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    for (WaveSet rest = waves; !rest.empty();) {
      const std::uint32_t wave = rest.take_lowest();
      --count_;
      if (wake_[wave] == now) continue;
      waves.remove(wave);
      place(wave, std::min(wake_[wave], now + size - 1));
    }
    return waves;
  }

 private:
  static constexpr std::uint32_t size = 1024, words = size / 64;
  void place(std::uint32_t wave, Cycle cycle) {
    const auto bucket = static_cast<std::uint32_t>(cycle % size);
    buckets_[bucket].add(wave);
    occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    ++count_;
  }
  std::array<WaveSet, size> buckets_{};
  std::array<std::uint64_t, words> occupied_{};
  std::array<Cycle, maximum_waves> wake_{};
  std::uint32_t count_ = 0;
};

}  // namespace fm
