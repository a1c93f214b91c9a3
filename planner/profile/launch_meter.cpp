#include "planner/profile/launch_meter.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/device_config.hpp"
#include "core/diagnostics.hpp"
#include "core/progress_bar.hpp"
#include "core/version.hpp"
#include "planner/profile/child_process.hpp"

namespace fm {
namespace {

constexpr const char* warm_runs = "2";
constexpr const char* measured_runs = "9";

/// A folder for files on their way from one tool to the next.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "fmplan_profile_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw DeviceError("cannot make a folder " + pattern);
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write_plan(const ProfilePlan& profiled, const WorkFolder& folder) {
  std::ofstream(folder.file("plan.yaml")) << to_yaml(profiled.plan);
  write_profile_weights(profiled.plan, folder.file("weights.fmw"));
}

std::map<std::string, Nanoseconds> times_in(const std::string& result) {
  std::map<std::string, Nanoseconds> times;
  for (const auto& launch : nlohmann::json::parse(result).at("launches")) {
    const auto start = launch.at("start_ns").get<std::uint64_t>();
    times[launch.at("id").get<std::string>()] =
        Nanoseconds(launch.at("end_ns").get<std::uint64_t>() - start);
  }
  return times;
}

/// Calls work(0) .. work(count - 1) on some threads; the first exception ends all.
template <class Work>
void side_by_side(std::size_t jobs, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0}, done{0};
  std::exception_ptr failure;
  std::mutex mutex;
  ProgressBar bar("simulating launches");
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      bar.show(++done, count);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < jobs; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::vector<Nanoseconds> simulated_times(const ProfileTarget& target, const ProfilePlan& profiled,
                                         std::size_t jobs) {
  const WorkFolder folder;
  write_plan(profiled, folder);
  run_child({tool_beside_this("fmexec"), "--plan", folder.file("plan.yaml"), "--weights",
             folder.file("weights.fmw"), "--record", folder.file("launches.trace")});
  const std::string fmsim = tool_beside_this("fmsim");
  std::vector<Nanoseconds> times(profiled.launches.size());
  side_by_side(jobs, times.size(), [&](std::size_t i) {
    const std::string& id = profiled.launches[i];
    const std::string after = "L" + std::to_string(std::stoul(id.substr(1)) + 1);
    const std::string result =
        run_child({fmsim, "--config", target.place, "--trace", folder.file("launches.trace"),
                   "--launches", id + ":" + after, "--warm", "--json"});
    times[i] = times_in(result).at(id);
  });
  return times;
}

std::vector<Nanoseconds> measured_times(const ProfileTarget& target, const ProfilePlan& profiled) {
  const WorkFolder folder;
  write_plan(profiled, folder);
  run_child({tool_beside_this("fmexec"), "--plan", folder.file("plan.yaml"), "--weights",
             folder.file("weights.fmw"), "--device", target.place, "--warmup", warm_runs,
             "--repeat", measured_runs, "--json", "--output", folder.file("result.json")});
  std::ifstream file(folder.file("result.json"));
  const std::map<std::string, Nanoseconds> times =
      times_in({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  std::vector<Nanoseconds> wanted;
  for (const std::string& id : profiled.launches) wanted.push_back(times.at(id));
  return wanted;
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

std::vector<Nanoseconds> launch_times(const ProfileTarget& target, const ProfilePlan& profiled,
                                      std::size_t jobs) {
  return target.simulated ? simulated_times(target, profiled, jobs)
                          : measured_times(target, profiled);
}

}  // namespace fm
