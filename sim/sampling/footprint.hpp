#pragma once
// Which bytes of its arguments a kernel touches, from the bounds of its address expressions.

#include <cstdint>
#include <vector>

#include "core/trace.pb.h"
#include "sim/gpu/gpu.hpp"

namespace fm {

/// Bytes [first, last) of the tensor at one kernel argument; of images and of what has no bounds
/// (data-dependent, as recorded) the whole object.
struct ArgumentFootprint {
  std::uint32_t argument = 0;
  bool write = false;
  bool whole = false;
  std::int64_t first = 0, last = 0;
};

/// One entry an argument and direction, in order of first use. A superset: guards do not narrow the
/// bounds, and gaps count. Local memory has none.
std::vector<ArgumentFootprint> footprint_of(const trace::AccessProgram& program);

/// The part of an object of `bytes` at `address` that `footprint` covers, for an argument at
/// `offset` of it.
TouchedRange touched_range(const ArgumentFootprint& footprint, Address address, Bytes bytes,
                           Bytes offset, bool image);

}  // namespace fm
