#include "planner/profile/profile_launches.hpp"

#include <algorithm>
#include <cmath>

#include "planner/profile/launch_features.hpp"

namespace fm {
namespace {

/// Amounts that are tried: from a piece as small as any worth streaming to a large weight slice.
constexpr Bytes least{32 * 1024}, most{16 * 1024 * 1024};
/// Where the first try looks, in bytes a nanosecond of allowed slowdown: half of what a phone's
/// DRAM moves. The second one knows better.
constexpr double first_rate = 20;
/// Amounts of the second try, as shares of the capacity that the first one shows.
constexpr double shares[] = {0.5, 0.9, 1.3};

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

std::vector<Subject> subjects_of(const std::vector<Plan>& plans, const DeviceProfile& profile) {
  std::map<std::string, Subject> distinct;  // by signature
  for (const Plan& plan : plans) {
    for (const PlanLaunch& launch : plan.launches) {
      if (launch.kind == LaunchKind::copy) continue;
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

Bytes capacity_shown(const ProfileEntry& entry) {
  const SlowdownPoint& point = entry.points.front();
  const double seen = std::max(1.0, static_cast<double>(point.extra.count()));
  const double times = std::clamp(allowed_time(entry) / seen, 1.0 / 16, 16.0);
  return clamped(static_cast<double>(point.streamed.count()) * times);
}

void sort_points(ProfileEntry* entry) {
  auto& points = entry->points;
  std::sort(points.begin(), points.end(),
            [](const SlowdownPoint& a, const SlowdownPoint& b) { return a.streamed < b.streamed; });
}

}  // namespace

std::size_t profile_launches(const std::vector<Plan>& plans, const ProfileTarget& target,
                             std::size_t jobs, DeviceProfile* profile) {
  std::vector<Subject> subjects = subjects_of(plans, *profile);
  Amounts bare, first, second;
  for (Subject& subject : subjects) bare.add(&subject, Bytes(0));
  bare.measure(target, jobs);
  for (Subject& subject : subjects) {
    if (operator_class(subject.entry.kernel) == OperatorClass::hierarchical) continue;
    first.add(&subject, clamped(allowed_time(subject.entry) * first_rate));
  }
  first.measure(target, jobs);
  for (Subject& subject : subjects) {
    if (subject.entry.points.empty()) continue;
    const auto capacity = static_cast<double>(capacity_shown(subject.entry).count());
    for (const double share : shares) second.add(&subject, clamped(capacity * share));
  }
  second.measure(target, jobs);
  for (Subject& subject : subjects) {
    sort_points(&subject.entry);
    profile->entries[launch_signature(*subject.plan, *subject.launch)] = subject.entry;
  }
  return subjects.size();
}

}  // namespace fm
