#include "planner/profile/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

double number(Nanoseconds time) { return static_cast<double>(time.count()); }

std::map<std::string, std::vector<LearntLaunch>> grouped(
    const std::vector<const DeviceProfile*>& profiles, HeldOutGroup group, std::size_t folds) {
  const DeviceProfile& first = *profiles.front();
  // What another profile of the device has of the first one's launches goes with that one.
  const auto profile_of = [&](const std::string& signature, const DeviceProfile& profile) {
    const bool its = &profile == &first ||
                     (profile.device == first.device && first.entries.count(signature) != 0);
    return std::string(its ? "the first" : "others");
  };
  std::map<std::string, std::vector<LearntLaunch>> groups;
  std::map<std::string, std::size_t> shapes;  // a shape is held out on all devices
  for (const DeviceProfile* profile : profiles) {
    for (const auto& [signature, entry] : profile->entries) shapes.emplace(signature, 0);
  }
  std::size_t shape = 0;
  for (auto& [signature, number_of] : shapes) number_of = shape++ % folds;
  for (const DeviceProfile* profile : profiles) {
    for (const auto& [signature, entry] : profile->entries) {
      const std::string name = group == HeldOutGroup::profile  ? profile_of(signature, *profile)
                               : group == HeldOutGroup::kernel ? entry.kernel
                                                               : std::to_string(shapes[signature]);
      groups[name].push_back({&entry, &profile->rates});
    }
  }
  return groups;
}

struct Predictions {
  std::vector<HeldOutPrediction> slowed, slowed_and_bare, bare;
};

void predict(const SlowdownModel& model, const LearntLaunch& held, Predictions* predictions) {
  const ProfileEntry& entry = *held.entry;
  const OperatorClass its_class = operator_class(entry.kernel);
  const Nanoseconds time = model.time(held.facts());
  predictions->bare.push_back({its_class, number(time), number(entry.time)});
  for (const SlowedTime& point : entry.points) {
    const double real = number(point.time) / number(entry.time);
    const auto ratio = [&](Nanoseconds bare) {
      return model.ratio(held.facts(), bare, point.streamed);
    };
    predictions->slowed.push_back({its_class, ratio(entry.time), real});
    predictions->slowed_and_bare.push_back({its_class, ratio(time), real});
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

HeldOutErrors errors_of(const std::vector<HeldOutPrediction>& predictions) {
  std::vector<double> relative;
  for (const HeldOutPrediction& one : predictions) {
    relative.push_back(std::abs(one.predicted - one.real) / one.real);
  }
  return errors_of(std::move(relative));
}

std::string to_string(HeldOutGroup group) {
  switch (group) {
    case HeldOutGroup::shape:
      return "shapes";
    case HeldOutGroup::kernel:
      return "kernels";
    case HeldOutGroup::profile:
      return "whole profile";
  }
  return "";
}

ModelErrors held_out(const std::vector<const DeviceProfile*>& profiles, HeldOutGroup group,
                     std::size_t folds) {
  const auto groups = grouped(profiles, group, folds);
  Predictions predictions;
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
    for (const LearntLaunch& launch : own) predict(model, launch, &predictions);
  }
  return {errors_of(predictions.slowed), errors_of(predictions.slowed_and_bare),
          errors_of(predictions.bare), class_margins(predictions.slowed),
          class_margins(predictions.slowed_and_bare)};
}

void hold_out(DeviceProfile* profile, const std::vector<DeviceProfile>& others, std::size_t folds) {
  const std::vector<HeldOutPrediction> points = held_out_points(*profile);
  profile->held_out = {{"slowdown, amounts held out", errors_of(points)}};
  profile->margins = {};
  profile->margins.measured = class_margins(points);
  std::vector<const DeviceProfile*> profiles{profile};
  for (const DeviceProfile& other : others) profiles.push_back(&other);
  for (const HeldOutGroup group :
       {HeldOutGroup::shape, HeldOutGroup::kernel, HeldOutGroup::profile}) {
    const ModelErrors errors = held_out(profiles, group, folds);
    if (errors.bare.predictions == 0) continue;
    const std::string what = to_string(group) + " held out";
    profile->held_out.push_back({"slowdown, " + what, errors.slowed});
    profile->held_out.push_back({"slowdown, bare time learnt, " + what, errors.slowed_and_bare});
    profile->held_out.push_back({"bare time, " + what, errors.bare});
    if (group != HeldOutGroup::shape) continue;
    profile->margins.bare_known = errors.slowed_margins;
    profile->margins.learnt = errors.slowed_and_bare_margins;
  }
}

std::vector<HeldOutPrediction> held_out_points(const DeviceProfile& profile) {
  std::vector<HeldOutPrediction> predictions;
  for (const auto& [signature, entry] : profile.entries) {
    for (std::size_t left = 0; left + 1 < entry.points.size(); ++left) {
      LaunchProfile others;
      others.time = entry.time;
      others.points = entry.points;
      others.points.erase(others.points.begin() + static_cast<std::ptrdiff_t>(left));
      if (others.points.size() < 2) continue;
      const SlowedTime& point = entry.points[left];
      predictions.push_back({operator_class(entry.kernel),
                             number(slowed_time(others, point.streamed)), number(point.time)});
    }
  }
  return predictions;
}

}  // namespace fm
