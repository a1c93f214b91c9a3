#include "core/preload_memory.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr Bytes largest_ring{4 << 20};
/// Direct reads begin and end at blocks of the file.
constexpr Bytes around = slice_alignment * 2;

}  // namespace

Bytes preload_ring(Bytes images, Bytes widest_row) {
  if (images == Bytes(0)) return Bytes(0);
  // Twice what passes through, so that it comes in one piece (staged_piece()).
  const Bytes wanted = std::max(std::min(2 * (images + around), largest_ring), widest_row);
  return round_up(wanted, slice_alignment) + around;
}

Bytes preload_ring(const Plan& plan) {
  Bytes images, widest_row;
  for (const WeightSlice& slice : plan.weights) {
    const PlanTensor& tensor = plan.tensor(slice.tensor);
    if (tensor.placement != Placement::image2d || slice.residency == Residency::disk) continue;
    images += slice.bytes;
    const std::uint64_t width = grid_extent(tensor.layout, tensor.shape).width;
    widest_row = std::max(widest_row, size_of(tensor.dtype) * 4 * width);
  }
  return preload_ring(images, widest_row);
}

Bytes preloading_bytes(const Plan& plan) {
  Bytes bytes =
      plan.staging_ring_bytes == Bytes(0) ? preload_ring(plan) : plan.staging_ring_bytes + around;
  for (const Pool& pool : plan.pools) bytes += pool.bytes;
  for (const WeightSlice& slice : plan.weights) {
    if (slice.residency == Residency::preload) bytes += slice.bytes;
  }
  return bytes;
}

}  // namespace fm
