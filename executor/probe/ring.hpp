#pragma once
// What the rings of pointer chases hold: each texel the position of the next.

#include <cstdint>
#include <vector>

#include "core/plan.hpp"
#include "executor/probe/probe_data.hpp"

namespace fm {

/// Texels of four floats. Sequential: texel i leads to (i + stride) % elements. Shuffled: from 0 to
/// all multiples of the stride, each once, in an order that is always the same.
std::vector<float> chase_ring(std::int64_t elements, std::int64_t stride, RingOrder order);
/// size x size texels; the first two lanes hold the next one's place, in blocks of across x down.
std::vector<float> block_ring(std::int64_t size, std::int64_t across, std::int64_t down);

}  // namespace fm
