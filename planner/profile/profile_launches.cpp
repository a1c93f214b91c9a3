#include "planner/profile/profile_launches.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "core/progress_bar.hpp"
#include "planner/profile/launch_signature.hpp"
#include "planner/profile/model_rows.hpp"

namespace fm {
namespace {

/// Amounts that are recorded: from a piece as small as any worth streaming to a large weight slice,
/// each 1.6 times the one before. All devices choose from the same, so that a recording serves all.
constexpr double least = 64.0 * 1024, most = 16.0 * 1024 * 1024, ratio = 1.6;
/// Points a curve is made of around the capacity. Another lies far below it, at such a share of the
/// first: there the streaming form itself may cost or save more than what is streamed.
constexpr std::size_t wanted_points = 3;
constexpr double small_share = 0.125;
/// Extra time over that of streaming alone, as it is usual for elemental and for reusable kernels:
/// where the first try looks; the others know better.
constexpr double usual_elemental = 1.3, usual_reusable = 0.6;

struct Subject {
  const Plan* plan = nullptr;
  const PlanLaunch* launch = nullptr;
  ProfileEntry entry;
};

double number(Nanoseconds time) { return static_cast<double>(time.count()); }

double allowed_time(const ProfileEntry& entry) {
  return allowed_slowdown(operator_class(entry.kernel)) * number(entry.time);
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
      entry.numbers = launch_numbers(plan, launch);
      distinct.emplace(signature, Subject{&plan, &launch, entry});
    }
  }
  std::vector<Subject> subjects;
  for (auto& [signature, subject] : distinct) subjects.push_back(std::move(subject));
  return subjects;
}

/// The bare launch, and with each amount.
ProfilePlan plan_of(const Subject& subject) {
  std::vector<ProfiledVariant> variants{{subject.plan, subject.launch, Bytes(0)}};
  if (operator_class(subject.entry.kernel) != OperatorClass::hierarchical) {
    for (double bytes = least; bytes <= most; bytes *= ratio) {
      variants.push_back({subject.plan, subject.launch, Bytes(static_cast<std::uint64_t>(bytes))});
    }
  }
  return make_profile_plan(variants);
}

/// One launch, measured amount by amount.
class LaunchProfiler {
 public:
  LaunchProfiler(Subject* subject, const ProfileTarget& target, const ProfileOptions& options,
                 const DeviceRates& rates)
      : entry_(subject->entry),
        rates_(rates),
        meter_(target, plan_of(*subject), options.recordings) {}

  void profile() {
    entry_.time = std::max(meter_.time(0), Nanoseconds(1));
    if (amounts() == 0) return;
    measure(nearest(usual_capacity()));
    while (points_.size() < std::min(wanted_points, amounts())) measure(next());
    if (points_.size() < amounts()) measure(small());
    for (const auto& [amount, time] : points_) {
      entry_.points.push_back({meter_.profiled().streamed[amount], time});
    }
  }

 private:
  /// Amounts are variants 1 to so many.
  std::size_t amounts() const { return meter_.profiled().streamed.size() - 1; }
  double bytes(std::size_t amount) const {
    return static_cast<double>(meter_.profiled().streamed[amount].count());
  }
  std::size_t nearest(double wanted) const {
    std::size_t best = 1;
    for (std::size_t i = 2; i <= amounts(); ++i) {
      const double closer = std::abs(std::log(bytes(i) / wanted));
      if (closer < std::abs(std::log(bytes(best) / wanted))) best = i;
    }
    return best;
  }

  double usual_capacity() const {
    const bool elemental = operator_class(entry_.kernel) == OperatorClass::elemental;
    const Bytes mebibyte(1 << 20);
    const double alone = streaming_alone({entry_.kernel, entry_.numbers, rates_}, mebibyte);
    const double a_byte = alone / static_cast<double>(mebibyte.count());
    return allowed_time(entry_) / (a_byte * (elemental ? usual_elemental : usual_reusable));
  }

  /// Below 0 when the streaming form takes less time.
  double extra(Nanoseconds slowed) const { return number(slowed) - number(entry_.time); }

  void measure(std::size_t amount) {
    points_[amount] = std::max(meter_.time(amount), Nanoseconds(1));
  }

  /// Two points are wanted around the capacity, as near as amounts go, and one more below it.
  std::size_t next() const {
    std::size_t below = 0, above = amounts() + 1;
    for (const auto& [amount, time] : points_) {
      if (extra(time) <= allowed_time(entry_)) {
        below = amount;
      } else {
        above = std::min(above, amount);
      }
    }
    if (above > amounts() || below == 0) return unmeasured(nearest(capacity_shown()), below, above);
    if (below + 1 < above) return unmeasured((below + above) / 2, below, above);
    return lower(below);
  }

  std::size_t small() const {
    const std::size_t wanted = nearest(bytes(points_.begin()->first) * small_share);
    return points_.count(wanted) == 0 ? wanted : lower(wanted);
  }

  /// Outside of what is measured the line through the origin and the outermost point tells; a curve
  /// is convex, so that it overshoots from below and falls short from above, by the root of it.
  double capacity_shown() const {
    const auto& [amount, time] = extra(points_.begin()->second) > allowed_time(entry_)
                                     ? *points_.begin()
                                     : *points_.rbegin();
    const double times = allowed_time(entry_) / std::max(1.0, extra(time));
    return bytes(amount) * std::sqrt(std::clamp(times, 1.0 / 64, 64.0));
  }

  /// `wanted`, or if it is measured the nearest between the two that is not; at the end of the
  /// amounts, one further in.
  std::size_t unmeasured(std::size_t wanted, std::size_t below, std::size_t above) const {
    for (std::size_t away = 0; away <= amounts(); ++away) {
      for (const std::size_t amount : {wanted + away, wanted - std::min(wanted, away)}) {
        if (amount > below && amount < above && points_.count(amount) == 0) return amount;
      }
    }
    return lower(std::min(above, amounts() + 1) - 1);
  }
  std::size_t lower(std::size_t from) const {
    for (std::size_t amount = from; amount > 0; --amount) {
      if (points_.count(amount) == 0) return amount;
    }
    std::size_t amount = std::max<std::size_t>(from, 1);  // 0 is the bare launch
    while (points_.count(amount) != 0) ++amount;
    return amount;
  }

  ProfileEntry& entry_;
  const DeviceRates& rates_;
  LaunchMeter meter_;
  std::map<std::size_t, Nanoseconds> points_;  // amount -> slowed time
};

/// Calls work(0) .. work(count - 1) on some threads; the first exception ends all.
template <class Work>
void side_by_side(std::size_t jobs, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < jobs; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::size_t profile_launches(const std::vector<Plan>& plans, const ProfileTarget& target,
                             const ProfileOptions& options, DeviceProfile* profile,
                             const std::function<void()>& save) {
  std::vector<Subject> subjects = subjects_of(plans, options, *profile);
  ProgressBar bar("profiling");
  bar.show(0, subjects.size());
  std::mutex mutex;
  std::size_t finished = 0;
  const std::size_t jobs = target.simulated ? options.jobs : 1;  // a device is not shared
  side_by_side(jobs, subjects.size(), [&](std::size_t i) {
    Subject& subject = subjects[i];
    LaunchProfiler(&subject, target, options, profile->rates).profile();
    const std::lock_guard<std::mutex> lock(mutex);
    profile->entries[launch_signature(*subject.plan, *subject.launch)] = subject.entry;
    save();
    bar.show(++finished, subjects.size());
  });
  return subjects.size();
}

}  // namespace fm
