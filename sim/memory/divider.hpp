#pragma once
// Division by a number that is fixed for a run and nearly always a power of two.

#include <cstdint>

namespace fm {

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

}  // namespace fm
