#pragma once
// Buffer or image2d: where each tensor lies (docs/decisions/placement.md).

#include <string>

#include "core/device_config.hpp"
#include "core/plan.hpp"

namespace fm {

/// `buffer_weights`: weights in buffers, activations as by `automatic`.
enum class PlacementPolicy { image2d, buffer, automatic, buffer_weights };
/// "image2d", "buffer", "auto" or "buffer-weights"; throws UserError otherwise.
PlacementPolicy placement_policy_from(const std::string& word);

/// Largest image2d of the device, in texels.
struct ImageLimits {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
};

/// What decides placements, from the policy and the device.
class PlacementRule {
 public:
  PlacementRule(PlacementPolicy policy, ImageLimits limits, bool weights_in_images,
                bool activations_in_images);
  static PlacementRule for_device(PlacementPolicy policy, const DeviceConfig& config);

  /// Linear tensors and one-row weights (bias, norm scales, scalars) always lie in buffers.
  Placement of(TensorRole role, Layout layout, const Shape& shape) const;
  /// The weight should be an image but is too large for one: it must be split.
  bool needs_split(Layout layout, const Shape& shape) const;
  /// In an image if weights are to lie in images, else in a buffer.
  bool weight_as_wanted(Layout layout, const Shape& shape) const;
  const ImageLimits& limits() const { return limits_; }

 private:
  bool fits(Layout layout, const Shape& shape) const;
  PlacementPolicy policy_;
  ImageLimits limits_;
  bool weights_in_images_;
  bool activations_in_images_;
};

}  // namespace fm
