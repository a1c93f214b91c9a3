#include "planner/profile/profile_launches.hpp"

#include <algorithm>
#include <cmath>

#include "core/progress_bar.hpp"
#include "planner/profile/launch_features.hpp"

namespace fm {
namespace {

/// Amounts that are tried: from a piece as small as any worth streaming to a large weight slice.
constexpr Bytes least{32 * 1024}, most{16 * 1024 * 1024};
/// Where the first try looks, in bytes a nanosecond of allowed slowdown: half of what a phone's
/// DRAM moves. The second one knows better.
constexpr double first_rate = 20;
/// Amounts of the second try, as shares of the capacity that the first one shows: those that are
/// not too near to another.
constexpr double shares[] = {0.7, 1.3, 0.4, 2, 4};
constexpr std::size_t second_amounts = 2;
constexpr double nearest = 1.25;

struct Subject {
  const Plan* plan = nullptr;
  const PlanLaunch* launch = nullptr;
  ProfileEntry entry;
};

Bytes clamped(double bytes) {
  const double low = static_cast<double>(least.count()), high = static_cast<double>(most.count());
  return Bytes(static_cast<std::uint64_t>(std::clamp(bytes, low, high)));
}

double allowed_time(const ProfileEntry& entry) {
  return allowed_slowdown(operator_class(entry.kernel)) * static_cast<double>(entry.time.count());
}

std::vector<Subject> subjects_of(const std::vector<Plan>& plans, const ProfileOptions& options,
                                 const DeviceProfile& profile) {
  std::map<std::string, Subject> distinct;  // by signature
  for (const Plan& plan : plans) {
    for (const PlanLaunch& launch : plan.launches) {
      if (launch.kind == LaunchKind::copy) continue;
      if (!options.launches.empty() && options.launches.count(launch.id) == 0) continue;
      const std::string signature = launch_signature(plan, launch);
      if (profile.entries.count(signature) != 0) continue;
      ProfileEntry entry;
      entry.kernel = launch.kernel;
      entry.features = launch_features(plan, launch);
      distinct.emplace(signature, Subject{&plan, &launch, entry});
    }
  }
  std::vector<Subject> subjects;
  for (auto& [signature, subject] : distinct) subjects.push_back(std::move(subject));
  return subjects;
}

/// Some amounts of each subject measured at once.
class Amounts {
 public:
  void add(Subject* subject, Bytes bytes) {
    variants_.push_back({subject->plan, subject->launch, bytes});
    subjects_.push_back(subject);
  }

  void measure(const ProfileTarget& target, std::size_t jobs) const {
    if (variants_.empty()) return;
    const ProfilePlan plan = make_profile_plan(variants_);
    const std::vector<Nanoseconds> times = launch_times(target, plan, jobs);
    for (std::size_t i = 0; i < times.size(); ++i) {
      ProfileEntry& entry = subjects_[i]->entry;
      if (plan.streamed[i] == Bytes(0)) {
        entry.time = std::max(times[i], Nanoseconds(1));
      } else {
        const Nanoseconds slowed = std::max(times[i], entry.time);
        entry.points.push_back({plan.streamed[i], slowed - entry.time});
      }
    }
  }

 private:
  std::vector<ProfiledVariant> variants_;
  std::vector<Subject*> subjects_;
};

/// Where a first point lets the allowed slowdown be expected. A curve is convex: a line from the
/// origin through a point below it overshoots and through a point above it falls short; the
/// geometric mean of the point and where the line arrives is near.
Bytes capacity_shown(const ProfileEntry& entry) {
  const SlowdownPoint& point = entry.points.front();
  const double seen = std::max(1.0, static_cast<double>(point.extra.count()));
  const double times = std::clamp(allowed_time(entry) / seen, 1.0 / 64, 64.0);
  return clamped(static_cast<double>(point.streamed.count()) * std::sqrt(times));
}

std::vector<Bytes> more_amounts(const ProfileEntry& entry) {
  const auto capacity = static_cast<double>(capacity_shown(entry).count());
  std::vector<Bytes> taken{entry.points.front().streamed};
  for (const double share : shares) {
    const Bytes amount = clamped(capacity * share);
    const bool apart = std::all_of(taken.begin(), taken.end(), [&](Bytes other) {
      const double ratio = static_cast<double>(amount.count()) / static_cast<double>(other.count());
      return ratio > nearest || ratio < 1 / nearest;
    });
    if (apart) taken.push_back(amount);
    if (taken.size() > second_amounts) break;
  }
  return {taken.begin() + 1, taken.end()};
}

void sort_points(ProfileEntry* entry) {
  auto& points = entry->points;
  std::sort(points.begin(), points.end(),
            [](const SlowdownPoint& a, const SlowdownPoint& b) { return a.streamed < b.streamed; });
}

/// In plans of its own: beside the variants of other launches, times depend on what those left in
/// the caches.
void measure(Subject* subject, const ProfileTarget& target, std::size_t jobs) {
  Amounts bare, first, second;
  bare.add(subject, Bytes(0));
  bare.measure(target, jobs);
  if (operator_class(subject->entry.kernel) == OperatorClass::hierarchical) return;
  first.add(subject, clamped(allowed_time(subject->entry) * first_rate));
  first.measure(target, jobs);
  for (const Bytes amount : more_amounts(subject->entry)) second.add(subject, amount);
  second.measure(target, jobs);
  sort_points(&subject->entry);
}

}  // namespace

std::size_t profile_launches(const std::vector<Plan>& plans, const ProfileTarget& target,
                             const ProfileOptions& options, DeviceProfile* profile,
                             const std::function<void()>& save) {
  std::vector<Subject> subjects = subjects_of(plans, options, *profile);
  ProgressBar bar("profiling");
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    bar.show(i, subjects.size());
    measure(&subjects[i], target, options.jobs);
    profile->entries[launch_signature(*subjects[i].plan, *subjects[i].launch)] = subjects[i].entry;
    save();
  }
  return subjects.size();
}

}  // namespace fm
