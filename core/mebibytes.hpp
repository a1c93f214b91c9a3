#pragma once
// Sizes in messages about budgets.

#include <string>

#include "core/units.hpp"

namespace fm {

/// "34.57 MiB": hundredths, rounded down.
std::string mebibytes_down(Bytes bytes);
/// "34.58 MiB", rounded up: read back it is at least `bytes`, so it can be given as a budget.
std::string mebibytes_up(Bytes bytes);

}  // namespace fm
