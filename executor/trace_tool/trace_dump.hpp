#pragma once
// `fmtrace dump`: host operations, programs and expanded accesses as text.

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "core/access_program.hpp"
#include "core/trace_file.hpp"

namespace fm {

struct DumpSelection {
  std::string launch;  ///< plan launch id: its accesses; empty = the host operations
  std::optional<std::uint32_t> program;               ///< its pseudo-code instead
  std::optional<std::array<std::uint32_t, 3>> group;  ///< of the launch; default 0,0,0
  std::optional<std::uint32_t> wave;                  ///< default: all waves of the group
  std::uint32_t width = 32;                           ///< work-items a wave
  std::uint64_t limit = 0;                            ///< lines; 0 = no limit
};

/// Throws UserError for a launch, program, group or wave the trace does not have.
void dump(const Trace& trace, const DumpSelection& selection, std::ostream& out);

/// Index values of a launch, by site, from the contents the trace holds.
IndexValues index_values_of(const Trace& trace, const trace::AccessProgram& program,
                            const trace::Launch& launch);

}  // namespace fm
