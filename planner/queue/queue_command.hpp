#pragma once
// `fmplan queue`: several models in one plan.

#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

/// Throws UserError.
ExitStatus run_queue(const std::vector<std::string>& words);

}  // namespace fm
