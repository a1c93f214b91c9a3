#pragma once
// In which parts weights are read.

#include <algorithm>
#include <cstdint>

#include "core/units.hpp"

namespace fm {

/// Threads that read weights, each one part at a time. Of a part of 1.5 MiB at 4 GB/s one thread
/// alone loses 140 us, a quarter, to the command's latency, map and unmap; two hide it.
constexpr std::uint32_t reader_threads = 2;

/// Largest read request: any weight slice. A reader thread waits for each, behind what the others
/// asked for meanwhile, so that a weight in two requests would wait twice.
constexpr Bytes disk_request{16 << 20};

/// Largest part of an image weight that is read into a staging ring of this size at once, and
/// copied at once. A quarter of the ring, so that reads are ahead of copies; in small rings up to
/// half, so that a part is 1 MiB if it can, for the latency of its request.
inline Bytes staged_piece(Bytes ring) {
  constexpr Bytes enough{1 << 20};
  return std::max(std::min(ring / 2, enough), ring / 4);
}

}  // namespace fm
