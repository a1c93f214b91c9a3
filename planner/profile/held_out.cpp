// How well slowdowns are predicted for launches and amounts that were not profiled.
#include <algorithm>
#include <cmath>

#include "planner/profile/convex_fit.hpp"
#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

double number(Nanoseconds time) { return static_cast<double>(time.count()); }

class ErrorSum {
 public:
  void add(double predicted, double real) {
    const double error = std::abs(predicted - real) / real;
    ++errors_.predictions;
    sum_ += error;
    errors_.largest = std::max(errors_.largest, error);
    within_ += error <= 0.1 ? 1 : 0;
  }
  HeldOutErrors result() const {
    HeldOutErrors errors = errors_;
    const auto count = static_cast<double>(std::max<std::size_t>(1, errors.predictions));
    errors.mean = sum_ / count;
    errors.within_tenth = static_cast<double>(within_) / count;
    return errors;
  }

 private:
  HeldOutErrors errors_;
  double sum_ = 0;
  std::size_t within_ = 0;
};

}  // namespace

ModelErrors held_out_by_launch(const DeviceProfile& profile, std::size_t folds) {
  ErrorSum slowed, bare;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<const ProfileEntry*> learnt, held;
    std::size_t number_of = 0;
    for (const auto& [signature, entry] : profile.entries) {
      (number_of++ % folds == fold ? held : learnt).push_back(&entry);
    }
    if (learnt.size() < fewest_learnt) continue;
    const SlowdownModel model(learnt);
    for (const ProfileEntry* entry : held) {
      bare.add(number(model.time(entry->features)), number(entry->time));
      for (const SlowdownPoint& point : entry->points) {
        slowed.add(number(entry->time) * model.ratio(entry->features, entry->time, point.streamed),
                   number(entry->time + point.extra));
      }
    }
  }
  return {slowed.result(), bare.result()};
}

HeldOutErrors held_out_by_point(const DeviceProfile& profile) {
  ErrorSum errors;
  for (const auto& [signature, entry] : profile.entries) {
    for (std::size_t left = 0; left + 1 < entry.points.size(); ++left) {
      std::vector<SlowdownPoint> others = entry.points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
      if (others.size() < 2) continue;
      const SlowdownPoint& point = entry.points[left];
      errors.add(number(entry.time + extra_time(convex_fit(others), point.streamed)),
                 number(entry.time + point.extra));
    }
  }
  return errors.result();
}

}  // namespace fm
