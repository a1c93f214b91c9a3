#include "executor/host_pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/diagnostics.hpp"

namespace fm {

HostPages::HostPages(Bytes bytes) : bytes_(bytes) {
  void* const pages =
      mmap(nullptr, bytes.count(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    throw DeviceError("taking " + std::to_string(bytes.count()) +
                      " bytes of memory: " + std::strerror(errno));
  }
  data_ = static_cast<std::uint8_t*>(pages);
}

HostPages::~HostPages() { munmap(data_, bytes_.count()); }

}  // namespace fm
