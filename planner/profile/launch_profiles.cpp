#include "planner/profile/launch_profiles.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/diagnostics.hpp"
#include "kernels/catalogue.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/estimate.hpp"
#include "planner/profile/launch_signature.hpp"
#include "planner/profile/learnt_profile.hpp"

namespace fm {
namespace {

struct MeasuredLaunch {
  std::string kernel;
  Nanoseconds time;
};

struct MeasuredRun {
  std::map<std::string, MeasuredLaunch> launches;  // by id
  double copy_time = 0, copies = 0, copied_bytes = 0;
};

MeasuredRun measured_run(const nlohmann::json& json) {
  MeasuredRun run;
  for (const auto& launch : json.at("launches")) {
    const auto start = launch.at("start_ns").get<std::uint64_t>();
    const auto end = launch.at("end_ns").get<std::uint64_t>();
    run.launches[launch.at("id").get<std::string>()] = {launch.at("kernel").get<std::string>(),
                                                        Nanoseconds(end - std::min(start, end))};
  }
  if (!json.contains("timeline") || !json.contains("counters")) return run;
  const auto& counters = json.at("counters");
  if (!counters.contains("copy.read_bytes")) return run;
  run.copied_bytes = counters.at("copy.read_bytes").at("value").get<double>();
  for (const auto& interval : json.at("timeline")) {
    if (interval.at("lane") != "copy") continue;
    run.copy_time += interval.at("end_ns").get<double>() - interval.at("start_ns").get<double>();
    ++run.copies;
  }
  return run;
}

MeasuredRun read_measured_run(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UserError("--profile " + file + ": cannot be read");
  try {
    return measured_run(nlohmann::json::parse(stream));
  } catch (const nlohmann::json::exception& error) {
    throw UserError("--profile " + file + ": is no result of fmsim or fmexec (" + error.what() +
                    ")");
  }
}

/// Cuts the slowdown where it reaches what the operator's class allows.
void end_at_capacity(LaunchProfile* profile) {
  const Bytes capacity = load_capacity(*profile);
  SlowdownCurve curve;
  for (const SlowdownPoint& point : profile->slowdown) {
    if (point.streamed < capacity) curve.push_back(point);
  }
  if (capacity > Bytes(0)) curve.push_back({capacity, extra_time(profile->slowdown, capacity)});
  profile->slowdown = std::move(curve);
}

/// The device's own profile: from a file, or with its rates alone.
DeviceProfile own_profile(const DeviceConfig& config, const std::optional<std::string>& file) {
  if (!file) {
    DeviceProfile none;
    none.device = config.name();
    none.rates = device_rates(config);
    return none;
  }
  DeviceProfile profile = read_profile(*file);
  if (profile.device != config.name()) {
    throw UserError("--profile " + *file + ": is of device '" + profile.device + "', not of '" +
                    config.name() + "': profile that one with fmplan profile, or learn from this " +
                    "one with --learn-from");
  }
  return profile;
}

std::vector<DeviceProfile> read_profiles(const std::vector<std::string>& files) {
  std::vector<DeviceProfile> profiles;
  for (const std::string& file : files) profiles.push_back(read_profile(file));
  return profiles;
}

/// Slowdowns of launches whose bare times a run told: learnt from profiles, if there are any, else
/// what the config lets expect.
class SlowdownAround {
 public:
  SlowdownAround(const DeviceConfig& config, const std::vector<std::string>& learn_from)
      : config_(config), own_(own_profile(config, {})), others_(read_profiles(learn_from)) {
    const auto own = std::find_if(others_.begin(), others_.end(), [&](const DeviceProfile& one) {
      return one.device == config.name();
    });
    if (own == others_.end()) return;
    own_ = std::move(*own);
    others_.erase(own);
  }

  LaunchProfile of(const Plan& plan, const PlanLaunch& launch, Nanoseconds time) {
    LaunchProfile profile;
    profile.operator_class = operator_class(launch.kernel);
    profile.time = time;
    if (!catalogue_entry(launch.kernel).streams) return profile;
    if (!own_.entries.empty() || !others_.empty()) {
      profile = learnt_.slowdown_of(plan, launch, time);
    } else {
      profile.slowdown = estimated_slowdown(plan, launch, config_, time);
    }
    end_at_capacity(&profile);
    return profile;
  }

 private:
  const DeviceConfig& config_;
  DeviceProfile own_;  ///< of the device, or its rates alone
  std::vector<DeviceProfile> others_;
  LearntProfiles learnt_{own_, others_};
};

/// Measured over estimated time, of all launches added and of each kernel's.
class EstimateError {
 public:
  void add(const std::string& kernel, Nanoseconds measured, Nanoseconds estimated) {
    for (Sums* sums : {&all_, &by_kernel_[kernel]}) {
      sums->measured += static_cast<double>(measured.count());
      sums->estimated += static_cast<double>(estimated.count());
    }
  }
  Nanoseconds corrected(const std::string& kernel, Nanoseconds estimated) const {
    const auto found = by_kernel_.find(kernel);
    const Sums& sums = found == by_kernel_.end() ? all_ : found->second;
    if (sums.estimated <= 0) return estimated;
    const double time = static_cast<double>(estimated.count()) * sums.measured / sums.estimated;
    return Nanoseconds(static_cast<std::uint64_t>(time));
  }

 private:
  struct Sums {
    double measured = 0, estimated = 0;
  };
  Sums all_;
  std::map<std::string, Sums> by_kernel_;
};

/// "own.yaml, others learnt from a.yaml, b.yaml"; without a file of its own the latter alone.
std::string source_of(const ProfileFiles& files, const char* learnt_from) {
  std::string others;
  for (const std::string& other : files.learn_from) others += (others.empty() ? "" : ", ") + other;
  if (!files.file) return others;
  return *files.file + (others.empty() ? "" : learnt_from + others);
}

LaunchProfiles profiled(const Plan& plan, const DeviceConfig& config, const ProfileFiles& files) {
  LaunchProfiles profiles;
  profiles.estimated = false;
  profiles.by_signature = true;
  const std::vector<DeviceProfile> others = read_profiles(files.learn_from);
  profiles.source = source_of(files, ", others learnt from ");
  profiles.launches = launch_profiles(plan, own_profile(config, files.file), others);
  for (LaunchProfile& profile : profiles.launches) end_at_capacity(&profile);
  return profiles;
}

}  // namespace

bool is_run_result(const std::string& file) {
  return file.size() > 5 && file.substr(file.size() - 5) == ".json";
}

LaunchProfiles launch_profiles(const Plan& plan, const DeviceConfig& config,
                               const ProfileFiles& files) {
  const std::optional<std::string>& file = files.file;
  const bool result = file && is_run_result(*file);
  if (!result && (file || !files.learn_from.empty())) return profiled(plan, config, files);
  LaunchProfiles profiles;
  MeasuredRun measured;
  if (file) {
    measured = read_measured_run(*file);
    profiles.estimated = false;
    profiles.source = source_of(files, ", slowdowns learnt from ");
    const double overhead = static_cast<double>(config.time("host.launch_overhead").count()) * 1e-3;
    const double moving = measured.copy_time - measured.copies * overhead;
    if (moving > 0 && measured.copied_bytes > 0) {
      profiles.copy_nanoseconds_per_byte = moving / measured.copied_bytes;
    }
  }
  SlowdownAround slowdown(config, files.learn_from);
  for (const PlanLaunch& launch : plan.launches) {
    Nanoseconds time = estimated_time(plan, launch, config);
    if (file) {
      const auto found = measured.launches.find(launch.id);
      if (found == measured.launches.end() || found->second.kernel != launch.kernel) {
        throw UserError("--profile " + *file + ": is of another plan: it has no launch " +
                        launch.id + " of kernel " + launch.kernel +
                        "; take it from a run of this model planned with --policy preload");
      }
      time = found->second.time;
    }
    profiles.launches.push_back(slowdown.of(plan, launch, time));
  }
  return profiles;
}

LaunchProfiles launch_profiles_from_run(const Plan& plan, const DeviceConfig& config,
                                        const ProfileFiles& files, const Plan& timed) {
  LaunchProfiles profiles = launch_profiles(timed, config, files);
  std::map<std::string, Nanoseconds> times;
  EstimateError error;
  for (std::size_t k = 0; k < timed.launches.size(); ++k) {
    const PlanLaunch& launch = timed.launches[k];
    const Nanoseconds measured = profiles.launches[k].time;
    times[launch_signature(timed, launch)] = measured;
    error.add(launch.kernel, measured, estimated_time(timed, launch, config));
  }
  profiles.launches.clear();
  SlowdownAround slowdown(config, files.learn_from);
  for (const PlanLaunch& launch : plan.launches) {
    const auto found = times.find(launch_signature(plan, launch));
    const Nanoseconds time =
        found != times.end() ? found->second
                             : error.corrected(launch.kernel, estimated_time(plan, launch, config));
    profiles.launches.push_back(slowdown.of(plan, launch, time));
  }
  return profiles;
}

}  // namespace fm
