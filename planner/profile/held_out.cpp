#include "planner/profile/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

double number(Nanoseconds time) { return static_cast<double>(time.count()); }

double relative_error(double predicted, double real) { return std::abs(predicted - real) / real; }

std::map<std::string, std::vector<LearntLaunch>> grouped(
    const std::vector<const DeviceProfile*>& profiles, HeldOutGroup group, std::size_t folds) {
  std::map<std::string, std::vector<LearntLaunch>> groups;
  std::map<std::string, std::size_t> shapes;  // a shape is held out on all devices
  for (const DeviceProfile* profile : profiles) {
    for (const auto& [signature, entry] : profile->entries) shapes.emplace(signature, 0);
  }
  std::size_t shape = 0;
  for (auto& [signature, number_of] : shapes) number_of = shape++ % folds;
  for (const DeviceProfile* profile : profiles) {
    for (const auto& [signature, entry] : profile->entries) {
      const std::string name = group == HeldOutGroup::device   ? profile->device
                               : group == HeldOutGroup::kernel ? entry.kernel
                                                               : std::to_string(shapes[signature]);
      groups[name].push_back({&entry, &profile->rates});
    }
  }
  return groups;
}

struct Relative {
  std::vector<double> slowed, slowed_and_bare, bare;
};

void predict(const SlowdownModel& model, const LearntLaunch& held, Relative* errors) {
  const ProfileEntry& entry = *held.entry;
  const Nanoseconds time = model.time(held.facts());
  errors->bare.push_back(relative_error(number(time), number(entry.time)));
  for (const SlowedTime& point : entry.points) {
    const double real = number(point.time) / number(entry.time);
    const auto error = [&](Nanoseconds bare) {
      return relative_error(model.ratio(held.facts(), bare, point.streamed), real);
    };
    errors->slowed.push_back(error(entry.time));
    errors->slowed_and_bare.push_back(error(time));
  }
}

}  // namespace

HeldOutErrors errors_of(std::vector<double> relative) {
  HeldOutErrors errors;
  errors.predictions = relative.size();
  if (relative.empty()) return errors;
  std::sort(relative.begin(), relative.end());
  double sum = 0, within = 0;
  for (const double error : relative) {
    sum += error;
    within += error <= 0.1 ? 1 : 0;
  }
  const auto count = static_cast<double>(relative.size());
  errors.mean = sum / count;
  errors.within_tenth = within / count;
  errors.median = relative[relative.size() / 2];
  errors.ninth_decile = relative[relative.size() * 9 / 10];
  errors.largest = relative.back();
  return errors;
}

std::string to_string(HeldOutGroup group) {
  switch (group) {
    case HeldOutGroup::shape:
      return "shapes";
    case HeldOutGroup::kernel:
      return "kernels";
    case HeldOutGroup::device:
      return "devices";
  }
  return "";
}

ModelErrors held_out(const std::vector<const DeviceProfile*>& profiles, HeldOutGroup group,
                     std::size_t folds) {
  const auto groups = grouped(profiles, group, folds);
  Relative errors;
  for (const auto& [name, held] : groups) {
    std::vector<LearntLaunch> learnt;
    for (const auto& [other, launches] : groups) {
      if (other != name) learnt.insert(learnt.end(), launches.begin(), launches.end());
    }
    std::vector<LearntLaunch> own;
    for (const LearntLaunch& launch : held) {
      if (launch.rates == &profiles.front()->rates) own.push_back(launch);
    }
    if (learnt.size() < fewest_learnt || own.empty()) continue;
    const SlowdownModel model(learnt);
    for (const LearntLaunch& launch : own) predict(model, launch, &errors);
  }
  return {errors_of(std::move(errors.slowed)), errors_of(std::move(errors.slowed_and_bare)),
          errors_of(std::move(errors.bare))};
}

std::vector<HeldOutResult> held_out_results(const DeviceProfile& profile,
                                            const std::vector<DeviceProfile>& others,
                                            std::size_t folds) {
  std::vector<HeldOutResult> results{{"slowdown, amounts held out", held_out_by_point(profile)}};
  std::vector<const DeviceProfile*> profiles{&profile};
  for (const DeviceProfile& other : others) profiles.push_back(&other);
  for (const HeldOutGroup group :
       {HeldOutGroup::shape, HeldOutGroup::kernel, HeldOutGroup::device}) {
    const ModelErrors errors = held_out(profiles, group, folds);
    if (errors.bare.predictions == 0) continue;
    const std::string what = to_string(group) + " held out";
    results.push_back({"slowdown, " + what, errors.slowed});
    results.push_back({"slowdown, bare time learnt, " + what, errors.slowed_and_bare});
    results.push_back({"bare time, " + what, errors.bare});
  }
  return results;
}

HeldOutErrors held_out_by_point(const DeviceProfile& profile) {
  std::vector<double> errors;
  for (const auto& [signature, entry] : profile.entries) {
    for (std::size_t left = 0; left + 1 < entry.points.size(); ++left) {
      LaunchProfile others;
      others.time = entry.time;
      others.points = entry.points;
      others.points.erase(others.points.begin() + static_cast<std::ptrdiff_t>(left));
      if (others.points.size() < 2) continue;
      const SlowedTime& point = entry.points[left];
      errors.push_back(
          relative_error(number(slowed_time(others, point.streamed)), number(point.time)));
    }
  }
  return errors_of(std::move(errors));
}

}  // namespace fm
