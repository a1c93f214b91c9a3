// IEEE 754 binary16 <-> binary32, in integer arithmetic: the same on every host.
#include <cstring>

#include "core/tensor_layout.hpp"

namespace fm {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// value / 2^shift, rounded to nearest, ties to even.
std::uint32_t shift_rounded(std::uint32_t value, std::uint32_t shift) {
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t rest = value & ((1U << shift) - 1);
  const std::uint32_t quotient = value >> shift;
  const bool up = rest > half || (rest == half && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

}  // namespace

std::uint16_t half_from_float(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half;
  if (magnitude > 0x7f800000U) {  // NaN: keep it quiet
    half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  } else if (magnitude >= 0x47800000U) {  // 2^16 and above, infinity
    half = 0x7c00U;
  } else if (magnitude >= 0x38800000U) {  // normal half: a carry may reach infinity, rightly
    half = shift_rounded(magnitude - 0x38000000U, 13);
  } else if (magnitude >= 0x33000000U) {  // subnormal half, unit 2^-24
    const std::uint32_t exponent = magnitude >> 23;
    half = shift_rounded((magnitude & 0x7fffffU) | 0x800000U, 126 - exponent);
  } else {
    half = 0;
  }
  return static_cast<std::uint16_t>(sign | half);
}

float float_from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return float_of(sign | bits_of(magnitude));
}

}  // namespace fm
