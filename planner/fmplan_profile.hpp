#pragma once
// `fmplan profile`: what launches take on a device, and how much each can stream.

#include <string>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {

/// `words` without the command itself.
ExitStatus fmplan_profile(const std::vector<std::string>& words);

}  // namespace fm
