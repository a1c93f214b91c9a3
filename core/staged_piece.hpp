#pragma once
// How the staging ring is divided.

#include <algorithm>

#include "core/units.hpp"

namespace fm {

/// Largest part of an image weight that is read into a staging ring of this size at once, and
/// copied at once. A quarter of the ring, so that reads are ahead of copies; in small rings up to
/// half, so that a part is a read request of 1 MiB if it can.
inline Bytes staged_piece(Bytes ring) {
  constexpr Bytes request{1 << 20};
  return std::max(std::min(ring / 2, request), ring / 4);
}

}  // namespace fm
