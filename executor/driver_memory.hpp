#pragma once
// What the GPU's driver holds for this process, which its resident memory does not show, as far as
// the system tells without privileges.

#include <string>

#include "core/units.hpp"

namespace fm {

struct DriverMemory {
  Bytes drm;      ///< resident buffers of DRM drivers (fdinfo: msm, panfrost, amdgpu, i915, ..)
  Bytes mapped;   ///< address space of mapped device files (maps: kgsl, mali, pvr, nvidia, ..)
  Bytes dma_buf;  ///< shared buffers held by file descriptor
  bool any() const { return drm + mapped + dma_buf > Bytes(0); }
};
/// `process`: the folder of /proc. Zeros where it does not say.
DriverMemory read_driver_memory(const std::string& process = "/proc/self");

}  // namespace fm
