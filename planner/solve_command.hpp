#pragma once
// fmplan solve: an overlap problem given by sizes alone.

#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

/// `words`: what follows `fmplan solve`. Throws UserError for wrong usage or input.
ExitStatus run_solve(const std::vector<std::string>& words);

}  // namespace fm
