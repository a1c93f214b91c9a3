#include "executor/fmexec_tune.hpp"

#include <cctype>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "core/atomic_file.hpp"
#include "core/progress_bar.hpp"
#include "core/yaml_value.hpp"
#include "executor/command_line.hpp"
#include "executor/device_limits.hpp"
#include "executor/tile_tuner.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmexec tune --plan PLAN [-o TILES] [--device NAME]\n"
    "Measures launches of matmul, conv and depthwise with other tiles than the plan's, and keeps\n"
    "the fastest for `fmplan --tiles TILES`. What TILES has of this device is not measured again.\n"
    "\n"
    "Example: fmexec tune --plan vit.plan.yaml -o vit.tiles.yaml\n";

po::options_description described_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("plan", po::value<std::string>(), "plan written by fmplan; no weights are needed");
  add("output,o", po::value<std::string>(),
      "file of tiles (default: $XDG_CACHE_HOME/flashmem/tiles/DEVICE.yaml)");
  add("device", po::value<std::string>(),
      "index or part of the name of an OpenCL device (default: the first GPU, else CPU)");
  add("help,h", "print this");
  return options;
}

std::string default_path(const OpenClDevice& device) {
  const std::string cache = default_cache_folder();
  if (cache.empty()) {
    throw UserError(
        "-o is missing, and neither XDG_CACHE_HOME nor HOME is set; see fmexec tune "
        "--help");
  }
  std::string name = device.name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '-';
  }
  const std::string folder = cache + "/tiles";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(folder + ": " + error.message() + "; name another file with -o");
  return folder + "/" + name + ".yaml";
}

/// What `path` has of this device, driver and these kernels; says why it drops anything else.
TileFile known_tiles(const std::string& path, const OpenClDevice& device) {
  TileFile fresh;
  fresh.device = device.name;
  fresh.driver = device.driver;
  fresh.kernels = tiled_kernels_digest();
  if (path == "-" || !std::filesystem::is_regular_file(path)) return fresh;
  TileFile found = parse_tile_file(read_text_file(path), path);
  if (found.device != fresh.device) {
    throw UserError(path + ": its tiles are of " + found.device + ", not of " + fresh.device +
                    "; name another file with -o");
  }
  if (found.driver != fresh.driver || found.kernels != fresh.kernels) {
    std::cerr << path << ": measured with another driver or other kernels; all is measured again\n";
    return fresh;
  }
  return found;
}

/// By subject, the first launch of each.
std::map<std::string, const PlanLaunch*> tiled_launches(const Plan& plan) {
  std::map<std::string, const PlanLaunch*> launches;
  for (const PlanLaunch& launch : plan.launches) {
    if (has_tile(launch)) launches.emplace(tile_subject(plan, launch), &launch);
  }
  return launches;
}

void print(std::ostream& people, const std::string& subject, const TunedTile& tuned) {
  people << subject << ": " << to_string(tuned.tile) << ", " << std::fixed << std::setprecision(3)
         << tuned.tile_ns / 1e6 << " ms; the plan's " << tuned.default_ns / 1e6 << " ms\n"
         << std::flush;
}

}  // namespace

ExitStatus fmexec_tune(int argc, const char* const* argv) {
  const po::options_description options = described_options();
  const po::variables_map values = parse_command_line(argc, argv, options, "fmexec tune");
  if (values.count("help") != 0) {
    std::cout << usage << "\n" << options;
    return ExitStatus::done;
  }
  if (values.count("plan") == 0) throw UserError("--plan is missing; see fmexec tune --help");
  const std::string plan_path = values["plan"].as<std::string>();
  const Plan plan = read_plan(plan_path);
  validate_launches(plan);
  const OpenClContext context(
      select_device(values.count("device") != 0 ? values["device"].as<std::string>() : ""));
  check_device_limits(plan, context.device());
  const std::string path = values.count("output") != 0 ? values["output"].as<std::string>()
                                                       : default_path(context.device());
  AtomicFile::refuse_input(path, {plan_path});
  TileFile file = known_tiles(path, context.device());
  std::map<std::string, const PlanLaunch*> launches = tiled_launches(plan);
  const std::size_t found = launches.size();
  for (const auto& [subject, tuned] : file.tiles) launches.erase(subject);

  std::ostream& people = path == "-" ? std::cerr : std::cout;
  people << launches.size() << " of " << found << " kinds of launches to measure on "
         << context.device().name << "\n"
         << std::flush;
  AtomicFile output(path);
  ProgramCache cache(context, "");  // most of what it builds is of no use to another run
  TileTuner tuner(context, cache);
  ProgressBar bar("tuning");
  std::size_t done = 0;
  for (const auto& [subject, launch] : launches) {
    bar.show(done++, launches.size());
    print(people, subject, file.tiles[subject] = tuner.tune(plan, *launch));
  }
  if (tuner.host_timed()) std::cerr << "fmexec: note: " << no_profiling << "\n";
  for (const BuildFallback& fallback : cache.fallbacks()) {
    std::cerr << "fmexec: note: " << describe(fallback) << "\n";
  }
  output.stream() << to_yaml(file);
  output.commit();
  if (path != "-") people << path << ": tiles of " << file.tiles.size() << " kinds of launches\n";
  return ExitStatus::done;
}

}  // namespace fm
