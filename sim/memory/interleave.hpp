#pragma once
// How line numbers are spread over slices or banks.

#include <cstdint>

#include "sim/memory/divider.hpp"

namespace fm {

/// Neighbouring numbers fall to different parts. Hashed, the higher bits rotate the parts, so that
/// power-of-two strides use all of them: with a power of two of parts by XOR of all groups of bits,
/// as in published reverse engineering of GPU and CPU caches, else by addition. Either way a number
/// is known by its part and number / parts.
class Interleave {
 public:
  Interleave(std::uint32_t parts, bool hashed) : parts_(parts), hashed_(hashed && parts > 1) {
    while ((1u << bits_) < parts) ++bits_;
    for (shift_ = bits_; shift_ * 2 < 64 && hashed_; shift_ *= 2) {
    }
  }
  std::uint64_t local(std::uint64_t number) const { return parts_.quotient(number); }
  std::uint32_t part(std::uint64_t number) const {
    const std::uint64_t low = parts_.remainder(number);
    if (!hashed_) return static_cast<std::uint32_t>(low);
    std::uint64_t fold = local(number);
    for (std::uint32_t shift = shift_; shift >= bits_; shift /= 2) fold ^= fold >> shift;
    return static_cast<std::uint32_t>(parts_.is_power() ? low ^ parts_.remainder(fold)
                                                        : parts_.remainder(low + fold));
  }

 private:
  Divider parts_;
  bool hashed_;
  std::uint32_t bits_ = 0;  ///< of a part's number
  std::uint32_t shift_ = 0;
};

}  // namespace fm
