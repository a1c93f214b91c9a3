#pragma once
// An access program as pseudo-code, for people.

#include <string>

#include "core/trace.pb.h"

namespace fm {

/// "global read #2", "local write tile" and the like.
std::string site_words(const trace::AccessProgram& program, std::uint32_t site);
std::string expression_text(const trace::Expression& expression);
/// Loops, guards, derivations, accesses and barriers, indented, a line each.
std::string program_text(const trace::AccessProgram& program);

}  // namespace fm
