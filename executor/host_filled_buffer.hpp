#pragma once
// Buffers whose bytes the host reads from disk.

#include <cstdint>
#include <memory>
#include <string>

#include "executor/host_pages.hpp"
#include "executor/opencl_objects.hpp"

namespace fm {

/// Where the device's memory is the host's own (a CPU), the bytes lie in whole pages, so that they
/// can be read directly, and OpenCL's object may be given up while the host writes them: a mapping
/// would wait for the kernel that runs, since the same threads carry out both. Elsewhere the driver
/// places the buffer and the host maps it. Movable.
class HostFilledBuffer {
 public:
  HostFilledBuffer() = default;
  /// `name` for messages. The context must outlive the buffer.
  HostFilledBuffer(const OpenClContext& context, Bytes bytes, const std::string& name);

  const OpenClMemory& memory() const { return memory_; }
  const std::string& name() const { return name_; }
  explicit operator bool() const { return context_ != nullptr; }

  bool in_pages() const { return pages_ != nullptr; }
  /// In pages, and no command uses the buffer: gives OpenCL's object up and returns the bytes for
  /// the host to write.
  std::uint8_t* take();
  /// After take(): the bytes are written and become OpenCL's again, as another object.
  void hand_back();

 private:
  const OpenClContext* context_ = nullptr;
  Bytes bytes_;
  std::string name_;
  std::shared_ptr<HostPages> pages_;
  OpenClMemory memory_;
};

}  // namespace fm
