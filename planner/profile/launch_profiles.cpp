#include "planner/profile/launch_profiles.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/diagnostics.hpp"
#include "planner/profile/estimate.hpp"

namespace fm {
namespace {

struct MeasuredLaunch {
  std::string kernel;
  Nanoseconds time;
};

std::map<std::string, MeasuredLaunch> measured_launches(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UserError("--profile " + file + ": cannot be read");
  try {
    const nlohmann::json json = nlohmann::json::parse(stream);
    std::map<std::string, MeasuredLaunch> launches;
    for (const auto& launch : json.at("launches")) {
      const auto start = launch.at("start_ns").get<std::uint64_t>();
      const auto end = launch.at("end_ns").get<std::uint64_t>();
      launches[launch.at("id").get<std::string>()] = {launch.at("kernel").get<std::string>(),
                                                      Nanoseconds(end - std::min(start, end))};
    }
    return launches;
  } catch (const nlohmann::json::exception& error) {
    throw UserError("--profile " + file + ": is no result of fmsim or fmexec (" + error.what() +
                    ")");
  }
}

}  // namespace

LaunchProfiles launch_profiles(const Plan& plan, const DeviceConfig& config,
                               const std::optional<std::string>& file) {
  LaunchProfiles profiles;
  std::map<std::string, MeasuredLaunch> measured;
  if (file) {
    measured = measured_launches(*file);
    profiles.estimated = false;
    profiles.source = *file;
  }
  for (const PlanLaunch& launch : plan.launches) {
    LaunchProfile profile;
    profile.operator_class = operator_class(launch.kernel);
    profile.time = estimated_time(plan, launch, config);
    if (file) {
      const auto found = measured.find(launch.id);
      if (found == measured.end() || found->second.kernel != launch.kernel) {
        throw UserError("--profile " + *file + ": is of another plan: it has no launch " +
                        launch.id + " of kernel " + launch.kernel +
                        "; take it from a run of this model planned with --policy preload");
      }
      profile.time = found->second.time;
    }
    profiles.launches.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace fm
