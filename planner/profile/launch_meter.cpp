#include "planner/profile/launch_meter.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/device_config.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/version.hpp"
#include "kernels/catalogue.hpp"
#include "planner/profile/child_process.hpp"

namespace fm {
namespace {

constexpr const char* warm_runs = "2";
constexpr const char* measured_runs = "9";

std::map<std::string, Nanoseconds> times_in(const std::string& result) {
  std::map<std::string, Nanoseconds> times;
  const nlohmann::json document = nlohmann::json::parse(result);
  for (const auto& launch : document.at("launches")) {
    const auto start = launch.at("start_ns").get<std::uint64_t>();
    times[launch.at("id").get<std::string>()] =
        Nanoseconds(launch.at("end_ns").get<std::uint64_t>() - start);
  }
  return times;
}

/// What decides a recording: the plan, the kernels' sources and the version of the recorder.
std::string recording_digest(const std::string& plan, const Plan& launches) {
  std::string all = plan + version;
  for (const PlanLaunch& launch : launches.launches)
    all += digest_of(kernel_source(launches, launch));
  const std::string digest = digest_of(all);
  return digest.substr(digest.find(':') + 1);
}

/// Line "N: name (platform, driver)" of fmexec --list-devices.
std::string device_name(const std::string& index) {
  const std::string list = "\n" + run_child({tool_beside_this("fmexec"), "--list-devices"});
  const std::size_t line = list.find("\n" + index + ": ");
  if (line == std::string::npos) {
    throw UserError("--on device:" + index + ": there is no such OpenCL device; there are" + list);
  }
  const std::size_t begin = line + index.size() + 3;
  const std::size_t end = list.find('\n', begin);
  const std::string rest = list.substr(begin, end - begin);
  return rest.substr(0, rest.rfind(" ("));
}

}  // namespace

ProfileTarget profile_target(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  ProfileTarget target;
  if (colon != std::string::npos) target.place = text.substr(colon + 1);
  if (target.place.empty() || (kind != "sim" && kind != "device")) {
    throw UserError("--on `" + text + "`: must be sim:CONFIG or device:N");
  }
  target.simulated = kind == "sim";
  target.tool = std::string(target.simulated ? "fmsim " : "fmexec ") + version;
  target.device =
      target.simulated ? DeviceConfig::load(target.place).name() : device_name(target.place);
  return target;
}

LaunchMeter::LaunchMeter(const ProfileTarget& target, ProfilePlan profiled,
                         const std::optional<std::string>& recordings)
    : target_(target), profiled_(std::move(profiled)), recordings_(recordings) {}

void LaunchMeter::write_inputs(const std::string& plan) const {
  std::ofstream(folder_.file("plan.yaml")) << plan;
  write_profile_weights(profiled_.plan, folder_.file("weights.fmw"));
}

void LaunchMeter::record() {
  const std::string plan = to_yaml(profiled_.plan);
  trace_ = folder_.file("launches.trace");
  if (recordings_) {
    trace_ = *recordings_ + "/" + recording_digest(plan, profiled_.plan) + ".trace";
    if (std::filesystem::exists(trace_)) return;
  }
  write_inputs(plan);
  run_child({tool_beside_this("fmexec"), "--plan", folder_.file("plan.yaml"), "--weights",
             folder_.file("weights.fmw"), "--record", trace_});
  std::filesystem::remove(folder_.file("weights.fmw"));
}

void LaunchMeter::measure_all() {
  write_inputs(to_yaml(profiled_.plan));
  run_child({tool_beside_this("fmexec"), "--plan", folder_.file("plan.yaml"), "--weights",
             folder_.file("weights.fmw"), "--device", target_.place, "--warmup", warm_runs,
             "--repeat", measured_runs, "--json", "--output", folder_.file("result.json")});
  std::ifstream file(folder_.file("result.json"));
  times_ = times_in({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

Nanoseconds LaunchMeter::time(std::size_t variant) {
  const std::string& id = profiled_.launches.at(variant);
  if (!target_.simulated) {
    if (times_.empty()) measure_all();
    return times_.at(id);
  }
  if (trace_.empty()) record();
  const std::string after = "L" + std::to_string(std::stoul(id.substr(1)) + 1);
  const std::string result =
      run_child({tool_beside_this("fmsim"), "--config", target_.place, "--trace", trace_,
                 "--launches", profiled_.prepared_from[variant] + ":" + after, "--warm", "--json"});
  return times_in(result).at(id);
}

}  // namespace fm
