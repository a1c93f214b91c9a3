#pragma once
// Sets of waves: by slot over a core, by age over an engine.

#include <array>
#include <cstdint>

#include "sim/gpu/core_parameters.hpp"

namespace fm {

/// Wave slots of one core.
class WaveSet {
 public:
  static WaveSet first(std::uint32_t count) {
    WaveSet set;
    for (std::uint32_t slot = 0; slot < count; ++slot) set.add(slot);
    return set;
  }
  void add(std::uint32_t slot) { words_[slot / 64] |= std::uint64_t{1} << (slot % 64); }
  void remove(std::uint32_t slot) { words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64)); }
  bool has(std::uint32_t slot) const { return (words_[slot / 64] >> (slot % 64) & 1) != 0; }
  bool empty() const { return (words_[0] | words_[1]) == 0; }
  std::uint32_t size() const {
    return static_cast<std::uint32_t>(__builtin_popcountll(words_[0]) +
                                      __builtin_popcountll(words_[1]));
  }
  std::uint32_t lowest() const {
    return static_cast<std::uint32_t>(words_[0] != 0 ? __builtin_ctzll(words_[0])
                                                     : 64 + __builtin_ctzll(words_[1]));
  }
  std::uint32_t take_lowest() {
    const std::uint32_t slot = lowest();
    // Without an index, so that a set that lives for a loop stays in registers.
    if (words_[0] != 0) {
      words_[0] &= words_[0] - 1;
    } else {
      words_[1] &= words_[1] - 1;
    }
    return slot;
  }

 private:
  static_assert(maximum_waves == 128, "two words");
  std::array<std::uint64_t, 2> words_{};
};

/// The waves of one engine. A wave's rank is its place in order of age, 0 the oldest, so that "the
/// oldest wave that .." is one instruction on a mask. When a wave leaves, the ranks above it close
/// up.
class alignas(64) EngineWaves {
 public:
  static constexpr std::uint32_t capacity = 64;
  static constexpr std::uint64_t bit(std::uint32_t rank) { return std::uint64_t{1} << rank; }

  /// Returns the new wave's rank.
  std::uint32_t append(std::uint32_t slot) {
    slot_of_[count_] = static_cast<std::uint8_t>(slot);
    return count_++;
  }
  /// `rank_of` holds the ranks of all slots and is kept up to date.
  void remove(std::uint32_t rank, std::array<std::uint8_t, maximum_waves>* rank_of) {
    close_up(&ready, rank);
    for (std::uint64_t& set : wants) close_up(&set, rank);
    --count_;
    for (std::uint32_t i = rank; i < count_; ++i) {
      slot_of_[i] = slot_of_[i + 1];
      (*rank_of)[slot_of_[i]] = static_cast<std::uint8_t>(i);
    }
  }
  std::uint32_t slot_at(std::uint32_t rank) const { return slot_of_[rank]; }
  std::uint32_t count() const { return count_; }

  std::uint64_t ready = 0;  ///< all but a free engine and unit is there for the next step
  std::array<std::uint64_t, 3> wants{};  ///< by Unit, of ready waves
  std::uint32_t last_rank = 0;           ///< issued last

 private:
  static void close_up(std::uint64_t* set, std::uint32_t rank) {
    const std::uint64_t below = bit(rank) - 1;
    *set = (*set & below) | ((*set >> 1) & ~below);
  }
  std::uint32_t count_ = 0;
  std::array<std::uint8_t, capacity> slot_of_{};
};

}  // namespace fm
