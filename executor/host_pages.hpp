#pragma once
// Memory of whole pages, for buffers of devices that compute in the host's memory.

#include <cstdint>

#include "core/units.hpp"

namespace fm {

/// Zeroed pages, returned to the system on destruction.
class HostPages {
 public:
  /// Throws DeviceError when there is no memory left.
  explicit HostPages(Bytes bytes);
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;
  std::uint8_t* data() const { return data_; }

 private:
  Bytes bytes_;
  std::uint8_t* data_ = nullptr;
};

}  // namespace fm
