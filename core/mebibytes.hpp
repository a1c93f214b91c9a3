#pragma once
// Sizes in messages about budgets.

#include <string>

#include "core/units.hpp"

namespace fm {

/// "34.57 MiB": hundredths, rounded down.
std::string mebibytes_down(Bytes bytes);
/// "34.58 MiB", rounded up.
std::string mebibytes_up(Bytes bytes);
/// "34.58 MiB (--budget 35402KiB)": also rounded up to what can be given as a budget, since sizes
/// are given in whole bytes.
std::string least_budget_text(Bytes bytes);

}  // namespace fm
