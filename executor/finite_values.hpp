#pragma once
// What an array holds that is no finite number, and how large the finite ones are.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor_layout.hpp"

namespace fm {

enum class NonFinite { nan, infinity, minus_infinity };
constexpr std::array<NonFinite, 3> non_finite_kinds{NonFinite::nan, NonFinite::infinity,
                                                    NonFinite::minus_infinity};
/// "nan", "inf", "-inf"
std::string to_string(NonFinite kind);

struct FiniteFacts {
  std::array<std::uint64_t, 3> counts{};  ///< by NonFinite
  std::array<std::uint64_t, 3> first{};   ///< row-major index of the first of each kind
  float largest = 0;                      ///< magnitude of the finite values

  bool has(NonFinite kind) const { return counts[static_cast<std::size_t>(kind)] > 0; }
  bool all_finite() const;
};

FiniteFacts finite_facts(const std::vector<float>& values);

/// "nan at [0, 3] (2 of 12 values)" for the first of that kind.
std::string describe(const FiniteFacts& facts, NonFinite kind, const Shape& shape);
/// Of every kind there is.
std::string describe(const FiniteFacts& facts, const Shape& shape);

}  // namespace fm
