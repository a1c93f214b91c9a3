#pragma once
// What this process holds, as the operating system says (Linux: /proc/self/status), and giving it
// back.

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

/// Keeps large blocks out of the heap, so that freed weights go back to the system: where the C
/// library's heap would keep them (glibc).
void keep_large_blocks_apart();
/// Gives back what the heap holds freed, as compilers leave behind.
void return_freed_memory();

}  // namespace fm
