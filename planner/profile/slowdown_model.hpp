#pragma once
// Launch times and slowdowns learnt from profiled launches: gradient boosted trees (XGBoost, Chen
// and Guestrin, KDD 2016), as FlashMem section 4.2 has it, over what launch_features() knows.

#include <memory>
#include <vector>

#include "planner/profile/device_profile.hpp"

namespace fm {

/// Fewest profiled launches to learn from.
constexpr std::size_t fewest_learnt = 4;

class SlowdownModel {
 public:
  /// Learns from the entries; deterministic. Throws UserError for fewer than fewest_learnt.
  explicit SlowdownModel(const std::vector<const ProfileEntry*>& entries);
  ~SlowdownModel();
  SlowdownModel(SlowdownModel&&) noexcept;

  /// Bare time of a launch.
  Nanoseconds time(const std::vector<float>& features) const;
  /// A convex curve of a launch that takes `time` bare, up to `most` bytes.
  SlowdownCurve slowdown(const std::vector<float>& features, Nanoseconds time, Bytes most) const;
  /// (time + extra) / time with `streamed` bytes inside, before a curve is fitted.
  double ratio(const std::vector<float>& features, Nanoseconds time, Bytes streamed) const;

 private:
  struct Trees;
  std::unique_ptr<Trees> time_, ratio_;
};

/// Errors of launch times on launches that were held out.
struct HeldOutErrors {
  std::size_t predictions = 0;
  double mean = 0, largest = 0;  ///< relative
  double within_tenth = 0;       ///< share of predictions within 10 %
};
/// `folds` times, learns from the launches of all other folds: slowed launch times, the bare time
/// known (`slowed`), and bare times (`bare`).
struct ModelErrors {
  HeldOutErrors slowed, bare;
};
ModelErrors held_out_by_launch(const DeviceProfile& profile, std::size_t folds);
/// Each point between others left out in turn, its slowed time read off the curve of the rest.
HeldOutErrors held_out_by_point(const DeviceProfile& profile);

}  // namespace fm
