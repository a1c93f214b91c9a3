#pragma once
// Launch times and slowdowns learnt from profiled launches: gradient boosted trees (XGBoost, Chen
// and Guestrin, KDD 2016), as FlashMem section 4.2 has it. Learnt are ratios: bare time over
// that of its parts in turn, extra time over that of streaming alone (model_rows.hpp), so that
// other shapes and devices are near what was seen.

#include <memory>
#include <vector>

#include "planner/profile/device_profile.hpp"
#include "planner/profile/model_rows.hpp"

namespace fm {

/// Fewest profiled launches to learn from.
constexpr std::size_t fewest_learnt = 4;

/// A profiled launch and the device it was profiled on; both must outlive their use.
struct LearntLaunch {
  const ProfileEntry* entry = nullptr;
  const DeviceRates* rates = nullptr;
  LaunchFacts facts() const { return {entry->kernel, entry->numbers, *rates}; }
};
std::vector<LearntLaunch> launches_of(const DeviceProfile& profile);

class SlowdownModel {
 public:
  /// Deterministic. Throws UserError for fewer than fewest_learnt.
  explicit SlowdownModel(const std::vector<LearntLaunch>& launches);
  ~SlowdownModel();
  SlowdownModel(SlowdownModel&&) noexcept;

  /// Bare time of a launch.
  Nanoseconds time(const LaunchFacts& facts) const;
  /// Of a launch that takes `time` bare, up to `most` bytes.
  std::vector<SlowedTime> points(const LaunchFacts& facts, Nanoseconds time, Bytes most) const;
  /// (time + extra) / time with `streamed` bytes inside.
  double ratio(const LaunchFacts& facts, Nanoseconds time, Bytes streamed) const;

 private:
  struct Trees;
  std::unique_ptr<Trees> time_, extra_;
};

}  // namespace fm
