#pragma once
// Division by numbers that seldom change.

#include <cstdint>

namespace fm {

/// By a number that is fixed for a run and nearly always a power of two.
class Divider {
 public:
  explicit Divider(std::uint64_t divisor = 1)
      : divisor_(divisor),
        power_((divisor & (divisor - 1)) == 0),
        shift_(static_cast<std::uint32_t>(__builtin_ctzll(divisor))) {}
  std::uint64_t divisor() const { return divisor_; }
  bool is_power() const { return power_; }
  std::uint64_t quotient(std::uint64_t value) const {
    return power_ ? value >> shift_ : value / divisor_;
  }
  std::uint64_t remainder(std::uint64_t value) const {
    return power_ ? value & (divisor_ - 1) : value % divisor_;
  }

 private:
  std::uint64_t divisor_;
  bool power_;
  std::uint32_t shift_;
};

/// By any number: a multiplication. Dividends are below 2^63.
class Reciprocal {
 public:
  explicit Reciprocal(std::uint64_t divisor = 1)
      : divisor_(divisor), inverse_(~std::uint64_t{0} / divisor) {}
  std::uint64_t quotient(std::uint64_t value) const {
    // inverse > 2^64 / divisor - 1, so the product's upper half is the quotient or one less.
    const auto low =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(value) * inverse_ >> 64);
    return low + (value - low * divisor_ >= divisor_ ? 1 : 0);
  }

 private:
  std::uint64_t divisor_, inverse_;
};

}  // namespace fm
