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
    const std::uint64_t fold = folded(local(number));
    return static_cast<std::uint32_t>(parts_.is_power() ? low ^ parts_.remainder(fold)
                                                        : parts_.remainder(low + fold));
  }

  /// The number with this local() and part().
  std::uint64_t number(std::uint64_t local, std::uint32_t part) const {
    if (!hashed_) return local * parts_.divisor() + part;
    const std::uint64_t fold = parts_.remainder(folded(local));
    const std::uint64_t low =
        parts_.is_power() ? part ^ fold : parts_.remainder(part + parts_.divisor() - fold);
    return local * parts_.divisor() + low;
  }

 private:
  /// Low bits on which all bits of `local` have an effect.
  std::uint64_t folded(std::uint64_t local) const {
    for (std::uint32_t shift = shift_; shift >= bits_; shift /= 2) local ^= local >> shift;
    return local;
  }
  Divider parts_;
  bool hashed_;
  std::uint32_t bits_ = 0;  ///< of a part's number
  std::uint32_t shift_ = 0;
};

}  // namespace fm
