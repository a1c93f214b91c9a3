#pragma once
// Which bytes of its arguments a kernel touches, from the bounds of its address expressions.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace.pb.h"
#include "sim/gpu/gpu.hpp"
#include "sim/memory/image_layout.hpp"

namespace fm {

/// Values from low to high, both included.
struct Interval {
  std::int64_t low = 0, high = 0;
};

/// What a kernel touches of the tensor at one argument: bytes x of a buffer, texels x, y of an
/// image. What has no bounds (data-dependent, as recorded) is anywhere in the object.
struct ArgumentFootprint {
  std::uint32_t argument = 0;
  bool write = false;
  std::optional<Interval> x, y;
};

/// One entry an argument and direction, in order of first use. A superset: guards do not narrow the
/// bounds, and gaps count. Local memory has none.
std::vector<ArgumentFootprint> footprint_of(const trace::AccessProgram& program);

/// The part of a buffer of `bytes` at `address` that `footprint` covers, for an argument at
/// `offset` of it.
TouchedRange touched_range(const ArgumentFootprint& footprint, Address address, Bytes bytes,
                           Bytes offset);
/// The part of an image: of each band of tiles the tiles from the first to the last touched.
TouchedRange touched_range(const ArgumentFootprint& footprint, Address address,
                           const ImageLayout& layout);

}  // namespace fm
