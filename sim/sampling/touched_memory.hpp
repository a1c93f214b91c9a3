#pragma once
// What a launch that is not simulated leaves in the shared caches.

#include "sim/gpu/gpu.hpp"
#include "sim/memory/memory_system.hpp"

namespace fm {

/// As if it had read and written all bytes of launch.touched, now.
void touch_arguments(const GpuLaunch& launch, MemorySystem& memory);

}  // namespace fm
