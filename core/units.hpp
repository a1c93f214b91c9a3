#pragma once
// Strong types for the quantities this project counts: mixing two of them does not compile.

#include <cstdint>
#include <functional>
#include <ostream>

namespace fm {

/// A count of one unit, named by `Tag`. Arithmetic stays within the unit; scaling takes plain
/// numbers.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::uint64_t count) : count_(count) {}

  constexpr std::uint64_t count() const { return count_; }

  constexpr Quantity& operator+=(Quantity other) { return count_ += other.count_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return count_ -= other.count_, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::uint64_t n) {
    return Quantity(a.count_ * n);
  }
  friend constexpr Quantity operator*(std::uint64_t n, Quantity a) { return a * n; }
  friend constexpr Quantity operator/(Quantity a, std::uint64_t n) {
    return Quantity(a.count_ / n);
  }
  friend constexpr std::uint64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
  friend constexpr Quantity operator%(Quantity a, Quantity b) {
    return Quantity(a.count_ % b.count_);
  }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Quantity a, Quantity b) { return a.count_ != b.count_; }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.count_ < b.count_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.count_ > b.count_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.count_ <= b.count_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.count_ >= b.count_; }
  friend std::ostream& operator<<(std::ostream& out, Quantity a) { return out << a.count_; }

 private:
  std::uint64_t count_ = 0;
};

using Bytes = Quantity<struct BytesTag>;
using Cycles = Quantity<struct CyclesTag>;
using Nanoseconds = Quantity<struct NanosecondsTag>;
using Picoseconds = Quantity<struct PicosecondsTag>;
/// A byte address in the simulated device's physical memory.
using Address = Quantity<struct AddressTag>;

constexpr Address operator+(Address base, Bytes offset) {
  return Address(base.count() + offset.count());
}
constexpr Picoseconds to_picoseconds(Nanoseconds t) { return Picoseconds(t.count() * 1000); }
constexpr Nanoseconds to_nanoseconds(Picoseconds t) { return Nanoseconds(t.count() / 1000); }

/// Position in an image2d or in a texel grid, in texels. Signed: a read may lie outside before
/// clamping.
struct TexelCoordinate {
  std::int64_t x = 0;
  std::int64_t y = 0;
  friend constexpr bool operator==(TexelCoordinate a, TexelCoordinate b) {
    return a.x == b.x && a.y == b.y;
  }
};

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}
constexpr Bytes round_up(Bytes a, Bytes multiple) {
  return Bytes(round_up(a.count(), multiple.count()));
}

}  // namespace fm

template <class Tag>
struct std::hash<fm::Quantity<Tag>> {
  std::size_t operator()(fm::Quantity<Tag> q) const noexcept {
    return std::hash<std::uint64_t>{}(q.count());
  }
};
