#include "executor/oclgrind_plugin/texel_coordinates.hpp"

#include <core/WorkItem.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fm {
namespace {

std::int64_t floor_within_a_word(double value) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (std::isnan(value)) return Limits::min();
  return static_cast<std::int64_t>(
      std::floor(std::clamp<double>(value, Limits::min(), Limits::max())));
}

/// Oclgrind's samplers are pointers to their constant.
std::uint64_t sampler_of(const llvm::Value* value, const oclgrind::WorkItem& item) {
  const std::size_t address = item.getOperand(value).getPointer();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer before
  const auto* constant = reinterpret_cast<const llvm::ConstantInt*>(address);
  return constant->getZExtValue();
}

}  // namespace

Texel texel_of(const llvm::CallInst& call, const oclgrind::WorkItem& item,
               const oclgrind::Image& image, bool write) {
  const bool sampled = !write && call.arg_size() > 2;
  const std::uint64_t sampler = sampled ? sampler_of(call.getArgOperand(1), item) : 0;
  const llvm::Value* const coordinates = call.getArgOperand(sampled ? 2 : 1);
  const oclgrind::TypedValue given = item.getOperand(coordinates);
  const bool floats = coordinates->getType()->isFPOrFPVectorTy();
  const std::array<std::size_t, 3> sizes{image.desc.image_width, image.desc.image_height,
                                         image.desc.image_depth};
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(coordinates->getType());
  const std::size_t count = vector == nullptr ? 1 : std::min(3U, vector->getNumElements());
  std::array<std::int64_t, 3> at{};
  for (std::size_t d = 0; d < count; ++d) {
    if (!floats) {
      at[d] = given.getSInt(static_cast<unsigned>(d));
      continue;
    }
    double position = given.getFloat(static_cast<unsigned>(d));
    if ((sampler & CLK_NORMALIZED_COORDS_TRUE) != 0 && sizes[d] != 0) {
      position *= static_cast<double>(sizes[d]);
    }
    if ((sampler & CLK_FILTER_LINEAR) != 0) position -= 0.5;
    at[d] = floor_within_a_word(position);
  }
  if (image.desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || count < 3) return {at[0], at[1]};
  const auto height = static_cast<std::int64_t>(std::max<std::size_t>(sizes[1], 1));
  const bool deep = image.desc.image_depth > 1 || image.desc.image_array_size > 1;
  if (!deep) return {at[0], at[1]};
  return {at[0], std::clamp<std::int64_t>(at[1], 0, height - 1) + height * at[2]};
}

}  // namespace fm
