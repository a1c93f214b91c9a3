#pragma once
// What the operating system says this process holds (Linux: /proc/self/status).

#include "core/units.hpp"

namespace fm {

struct ProcessMemory {
  Bytes peak_resident;       ///< VmHWM
  Bytes resident_anonymous;  ///< RssAnon
  Bytes resident_file;       ///< RssFile
  Bytes swapped;             ///< VmSwap
};
/// Zeros where the system does not say.
ProcessMemory read_process_memory();

}  // namespace fm
