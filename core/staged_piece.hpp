#pragma once
// In which parts weights are read.

#include <algorithm>

#include "core/units.hpp"

namespace fm {

/// Largest read request. A reader thread waits for each, so that its latency is paid each time: of
/// 1 MiB at 4 GB/s and 74 us a fifth is lost, of 4 MiB a fifteenth.
constexpr Bytes disk_request{4 << 20};

/// Largest part of an image weight that is read into a staging ring of this size at once, and
/// copied at once. A quarter of the ring, so that reads are ahead of copies; in small rings up to
/// half, so that a part is 1 MiB if it can, for the latency of its request.
inline Bytes staged_piece(Bytes ring) {
  constexpr Bytes enough{1 << 20};
  return std::max(std::min(ring / 2, enough), ring / 4);
}

}  // namespace fm
