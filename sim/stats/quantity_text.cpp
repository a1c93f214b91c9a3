#include "sim/stats/quantity_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace fm {

std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude >= 99.95 || magnitude == 0
                           ? 0
                           : (magnitude >= 9.995 ? 1 : (magnitude >= 0.9995 ? 2 : 3));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string text_of(Bytes bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes.count());
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < units.size()) value /= 1024, ++unit;
  return (unit == 0 ? std::to_string(bytes.count()) : three_digits(value)) + " " + units[unit];
}

std::string text_of(Nanoseconds time) {
  if (time.count() < 1000) return std::to_string(time.count()) + " ns";
  constexpr std::array<const char*, 3> units{"us", "ms", "s"};
  double value = static_cast<double>(time.count()) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) value /= 1000, ++unit;
  return three_digits(value) + " " + units[unit];
}

std::string text_with_prefix(double value, const std::string& unit) {
  constexpr std::array<const char*, 8> prefixes{"n", "u", "m", "", "k", "M", "G", "T"};
  std::size_t prefix = 3;
  while (std::fabs(value) >= 999.5 && prefix + 1 < prefixes.size()) value /= 1000, ++prefix;
  while (value != 0 && std::fabs(value) < 0.9995 && prefix > 0) value *= 1000, --prefix;
  return three_digits(value) + " " + prefixes[prefix] + unit;
}

}  // namespace fm
