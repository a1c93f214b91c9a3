#include "executor/process_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <limits>
#include <string>

namespace fm {

ProcessMemory read_process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    Bytes* field = key == "VmHWM:"     ? &memory.peak_resident
                   : key == "RssAnon:" ? &memory.resident_anonymous
                   : key == "RssFile:" ? &memory.resident_file
                   : key == "VmSwap:"  ? &memory.swapped
                                       : nullptr;
    std::uint64_t kilobytes = 0;
    if (field && status >> kilobytes) *field = Bytes(kilobytes * 1024);
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return memory;
}

void keep_large_blocks_apart() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

void return_freed_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#elif defined(__BIONIC__)
  mallopt(M_PURGE, 0);
#endif
}

}  // namespace fm
