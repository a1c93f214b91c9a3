#pragma once
// Where the issue slots of a core go: every engine-cycle has exactly one of these.

#include <cstdint>
#include <string>

namespace fm {

/// Idle and drain apart, a stall's cause is that of the engine's oldest wave.
enum class StallCause : std::uint8_t {
  idle,             ///< no wave on the engine
  arithmetic,       ///< waits for its own last result
  load,             ///< waits for data of the load/store unit
  texture,          ///< waits for texels
  local,            ///< waits for local memory
  load_store_pipe,  ///< load/store unit busy or its queue full
  texture_pipe,     ///< texture unit busy or its queue full
  local_pipe,       ///< local memory busy or its queue full
  mshr,             ///< a unit stands still: MSHRs, merge lists or ways taken by fetches
  write_buffer,     ///< a unit stands still: too many writes unacknowledged
  barrier,          ///< waits for other waves of its work-group
  drain             ///< no wave left; caches are cleaned and writes acknowledged
};
constexpr std::size_t stall_cause_count = 12;
std::string to_string(StallCause cause);
/// For counters: "no wave was on the engine".
std::string describe(StallCause cause);

}  // namespace fm
