#pragma once
// Quantities as people read them: three significant digits and a unit.

#include <string>

#include "core/units.hpp"

namespace fm {

/// "512 B", "1.50 KiB", "339 MiB".
std::string text_of(Bytes bytes);
/// "37 ns", "1.25 us", "12.3 ms", "2.50 s".
std::string text_of(Nanoseconds time);
/// `value` with a decimal prefix before `unit`: "68.3 GB/s", "950 mJ", "4.20 G".
std::string text_with_prefix(double value, const std::string& unit);
/// Three significant digits: "0.123", "12.3", "123".
std::string three_digits(double value);

}  // namespace fm
