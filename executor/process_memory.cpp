#include "executor/process_memory.hpp"

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

}  // namespace fm
