#pragma once
// `fmtrace info`: what a trace holds, in numbers.

#include <string>

#include "core/trace_file.hpp"

namespace fm {

/// Text for people: file, origin, host program, and a line for every access program.
std::string info_text(const Trace& trace, const std::string& path);
/// The same as JSON (keys are described in docs/trace.md).
std::string info_json(const Trace& trace, const std::string& path);

}  // namespace fm
