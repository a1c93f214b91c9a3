#pragma once
// Sizes, times and shares in reports and messages.

#include <string>

#include "core/units.hpp"

namespace fm {

/// "34.57 MiB", rounded to nearest.
std::string mebibytes(Bytes bytes);
/// The same, rounded down.
std::string mebibytes_down(Bytes bytes);
/// "34.58 MiB", rounded up.
std::string mebibytes_up(Bytes bytes);
/// "34.58 MiB (--budget 35402KiB)": also rounded up to what can be given as a budget, since sizes
/// are given in whole bytes.
std::string least_budget_text(Bytes bytes);

/// "12.345 ms"
std::string milliseconds(Nanoseconds time);
std::string milliseconds(double nanoseconds);
/// "12.34 %" of a share of 0.1234.
std::string percent(double share);

}  // namespace fm
