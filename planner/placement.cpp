#include "planner/placement.hpp"

#include "core/diagnostics.hpp"

namespace fm {

PlacementPolicy placement_policy_from(const std::string& word) {
  if (word == "image2d") return PlacementPolicy::image2d;
  if (word == "buffer") return PlacementPolicy::buffer;
  if (word == "auto") return PlacementPolicy::automatic;
  if (word == "buffer-weights") return PlacementPolicy::buffer_weights;
  throw UserError("--placement `" + word +
                  "`: " + accepted_words(word, {"image2d", "buffer", "auto", "buffer-weights"}));
}

PlacementRule::PlacementRule(PlacementPolicy policy, ImageLimits limits, bool weights_in_images,
                             bool activations_in_images)
    : policy_(policy),
      limits_(limits),
      weights_in_images_(weights_in_images),
      activations_in_images_(activations_in_images) {}

PlacementRule PlacementRule::for_device(PlacementPolicy policy, const DeviceConfig& config) {
  const ImageLimits limits{config.count("limits.image_width"), config.count("limits.image_height")};
  switch (policy) {
    case PlacementPolicy::image2d:
      return {policy, limits, true, true};
    case PlacementPolicy::buffer:
      return {policy, limits, false, false};
    case PlacementPolicy::automatic:
    case PlacementPolicy::buffer_weights:
      break;
  }
  const std::string& isa = config.word("gpu.isa");
  const bool adreno = isa.rfind("adreno", 0) == 0;
  const bool mali = isa == "valhall" || isa == "bifrost";
  const bool weights = policy == PlacementPolicy::automatic && (adreno || mali);
  return {policy, limits, weights, adreno};
}

bool PlacementRule::fits(Layout layout, const Shape& shape) const {
  const GridExtent extent = grid_extent(layout, shape);
  return extent.width <= limits_.width && extent.height <= limits_.height;
}

Placement PlacementRule::of(TensorRole role, Layout layout, const Shape& shape) const {
  if (layout == Layout::linear) return Placement::buffer;
  const bool weight = role == TensorRole::weight;
  if (weight && grid_extent(layout, shape).height == 1) return Placement::buffer;
  const bool wanted = weight ? weights_in_images_ : activations_in_images_;
  return wanted && fits(layout, shape) ? Placement::image2d : Placement::buffer;
}

bool PlacementRule::weight_as_wanted(Layout layout, const Shape& shape) const {
  return !weights_in_images_ || fits(layout, shape);
}

bool PlacementRule::needs_split(Layout layout, const Shape& shape) const {
  return policy_ == PlacementPolicy::image2d && !fits(layout, shape);
}

}  // namespace fm
