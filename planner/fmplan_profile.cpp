#include "planner/fmplan_profile.hpp"

#include <boost/program_options.hpp>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/plan.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/held_out.hpp"
#include "planner/profile/profile_launches.hpp"
#include "planner/profile/sampled_launches.hpp"
#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* profile_usage =
    "usage: fmplan profile --on sim:CONFIG|device:N [--plan PLAN ..] [--shapes N] -o PROFILE\n\n"
    "Measures the plans' launches and those of N shapes drawn at random, bare and with weights\n"
    "streamed inside, and says how much each may carry and how well others are learnt from them.\n"
    "An existing PROFILE of the same device keeps what it has and gets what it lacks.\n\n"
    "example: fmplan profile --on sim:adreno-750 --plan vit.plan.yaml -o adreno-750.profile.yaml\n";

po::options_description profile_flags() {
  po::options_description flags("options of fmplan profile");
  flags.add_options()("on", po::value<std::string>(),
                      "sim:CONFIG, a name in configs/ or a file, or device:N, an OpenCL device by "
                      "its number in fmexec --list-devices")(
      "plan", po::value<std::vector<std::string>>()->composing(),
      "whose launches; may be repeated")("launch",
                                         po::value<std::vector<std::string>>()->composing(),
                                         "only launches of this id; may be repeated")(
      "output,o", po::value<std::string>(), "the profile")(
      "config", po::value<std::string>(),
      "with device:N: the config that describes that device, under whose name the profile is kept; "
      "else that of the plans serves only to learn by")(
      "shapes", po::value<std::size_t>()->default_value(0),
      "so many launches more, of shapes drawn at random, to learn from")(
      "seed", po::value<std::uint64_t>()->default_value(1), "of those shapes")(
      "recordings", po::value<std::string>(),
      "a folder where recorded launches are kept, to be simulated for other configs too")(
      "learn-from", po::value<std::vector<std::string>>()->composing(),
      "a profile of another device or of other launches, to tell how well these are learnt from "
      "it")("jobs", po::value<std::size_t>()->default_value(1), "launches simulated side by side")(
      "folds", po::value<std::size_t>()->default_value(5),
      "parts of the shapes that are held out in turn to tell how well others are learnt")(
      "help", "print this");
  return flags;
}

po::variables_map parsed_profile_flags(const std::vector<std::string>& words,
                                       const po::options_description& flags) {
  po::variables_map values;
  try {
    const po::positional_options_description none;
    po::store(po::command_line_parser(words).options(flags).positional(none).run(), values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see fmplan profile --help");
  }
  for (const char* needed : {"on", "output"}) {
    if (values.count("help") == 0 && values.count(needed) == 0) {
      throw UserError(std::string("--") + needed + " is missing; see fmplan profile --help");
    }
  }
  if (values.count("help") == 0 && values.count("plan") == 0 &&
      values["shapes"].as<std::size_t>() == 0) {
    throw UserError("--plan or --shapes is missing; see fmplan profile --help");
  }
  if (values["shapes"].as<std::size_t>() > 10000) throw UserError("--shapes must be at most 10000");
  const auto jobs = values["jobs"].as<std::size_t>(), folds = values["folds"].as<std::size_t>();
  if (jobs < 1 || jobs > 64) throw UserError("--jobs must be 1 to 64");
  if (folds < 2 || folds > 1000) throw UserError("--folds must be 2 to 1000");
  return values;
}

/// Of an option that may be repeated.
std::vector<std::string> texts(const po::variables_map& values, const char* flag) {
  if (values.count(flag) == 0) return {};
  return values[flag].as<std::vector<std::string>>();
}

ProfileOptions chosen(const std::vector<Plan>& plans, const po::variables_map& values) {
  ProfileOptions options;
  options.jobs = values["jobs"].as<std::size_t>();
  if (values.count("recordings") != 0) {
    options.recordings = values["recordings"].as<std::string>();
    if (!std::filesystem::is_directory(*options.recordings)) {
      throw UserError("--recordings " + *options.recordings + ": there is no such folder");
    }
  }
  std::set<std::string> known;
  for (const Plan& plan : plans) {
    for (const PlanLaunch& launch : plan.launches) known.insert(launch.id);
  }
  for (const std::string& id : texts(values, "launch")) {
    if (known.count(id) == 0) throw UserError("--launch " + id + ": no plan has such a launch");
    options.launches.insert(id);
  }
  return options;
}

std::string described(const HeldOutErrors& errors) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << std::setw(7) << errors.mean * 100 << std::setw(8)
       << errors.median * 100 << std::setw(7) << errors.ninth_decile * 100 << std::setw(9)
       << errors.largest * 100 << std::setw(9) << errors.within_tenth * 100 << std::setw(8)
       << errors.predictions;
  return text.str();
}

void print_capacities(const DeviceProfile& profile, std::size_t measured) {
  std::cout << profile.device << ": " << profile.entries.size() << " launches, " << measured
            << " measured now\n\n";
  std::cout << std::left << std::setw(16) << "class" << std::right << std::setw(10) << "launches"
            << std::setw(18) << "chunks of 64 KiB" << '\n';
  for (const OperatorClass one :
       {OperatorClass::elemental, OperatorClass::reusable, OperatorClass::hierarchical}) {
    std::size_t count = 0;
    std::uint64_t chunks = 0;
    for (const auto& [signature, entry] : profile.entries) {
      if (operator_class(entry.kernel) != one) continue;
      ++count;
      chunks += load_capacity(launch_profile(entry, profile.margins.measured)) / Bytes(64 * 1024);
    }
    std::cout << std::left << std::setw(16) << to_string(one) << std::right << std::setw(10)
              << count << std::setw(18) << chunks << '\n';
  }
}

void print_margins(const CapacityMargins& margins) {
  std::cout << "\nmargins, percent   elemental  reusable\n" << std::fixed << std::setprecision(1);
  const std::pair<const char*, const ClassMargins*> rows[] = {
      {"measured", &margins.measured},
      {"bare time known", &margins.bare_known},
      {"learnt", &margins.learnt}};
  for (const auto& [name, of] : rows) {
    std::cout << std::left << std::setw(19) << name << std::right << std::setw(9)
              << of->elemental * 100 << std::setw(10) << of->reusable * 100 << '\n';
  }
}

void print_errors(const DeviceProfile& profile) {
  std::cout
      << "\nerrors, percent                              mean  median    p90  largest  in 10 %"
         "    of\n";
  for (const HeldOutResult& result : profile.held_out) {
    std::cout << std::left << std::setw(43) << result.what << described(result.errors) << '\n';
  }
}

DeviceProfile profile_of(const ProfileTarget& target, const DeviceConfig& config,
                         const std::string& output) {
  DeviceProfile profile;
  profile.device = target.device;
  if (std::filesystem::exists(output)) {
    profile = read_profile(output);
    if (profile.device != target.device) {
      throw UserError(output + " is the profile of device '" + profile.device + "', not of '" +
                      target.device + "': give it another name");
    }
  }
  profile.measured_by = target.tool;
  profile.rates = device_rates(config);
  return profile;
}

/// What describes the device: the simulated config, --config, or what the plans were made for.
DeviceConfig config_of(const ProfileTarget& target, const std::vector<Plan>& plans,
                       const po::variables_map& values) {
  const bool given = values.count("config") != 0;
  if (target.simulated) {
    if (given) throw UserError("--config goes with --on device:N");
    return DeviceConfig::load(target.place);
  }
  if (given) return DeviceConfig::load(values["config"].as<std::string>());
  if (plans.empty()) throw UserError("--on device:N without --plan needs --config");
  return DeviceConfig::load(plans.front().config);
}

}  // namespace

ExitStatus fmplan_profile(const std::vector<std::string>& words) {
  const po::options_description flags = profile_flags();
  const po::variables_map values = parsed_profile_flags(words, flags);
  if (values.count("help") != 0) {
    std::cout << profile_usage << flags;
    return ExitStatus::done;
  }
  const std::string output = values["output"].as<std::string>();
  std::vector<Plan> plans;
  for (const std::string& path : texts(values, "plan")) plans.push_back(read_plan(path));
  ProfileTarget target = profile_target(values["on"].as<std::string>());
  const DeviceConfig config = config_of(target, plans, values);
  if (values.count("config") != 0) target.device = config.name();
  if (const auto shapes = values["shapes"].as<std::size_t>(); shapes > 0) {
    plans.push_back(sampled_launches(shapes, values["seed"].as<std::uint64_t>(), config));
  }
  std::vector<DeviceProfile> others;
  for (const std::string& path : texts(values, "learn-from")) others.push_back(read_profile(path));
  DeviceProfile profile = profile_of(target, config, output);
  const auto save = [&] {
    AtomicFile file(output);
    file.stream() << to_yaml(profile);
    file.commit();
  };
  const std::size_t measured =
      profile_launches(plans, target, chosen(plans, values), &profile, save);
  hold_out(&profile, others, values["folds"].as<std::size_t>());
  save();
  print_capacities(profile, measured);
  print_errors(profile);
  print_margins(profile.margins);
  return ExitStatus::done;
}

}  // namespace fm
