#include "planner/fmplan_profile.hpp"

#include <boost/program_options.hpp>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/plan.hpp"
#include "planner/profile/device_profile.hpp"
#include "planner/profile/profile_launches.hpp"
#include "planner/profile/slowdown_model.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* profile_usage =
    "usage: fmplan profile --on sim:CONFIG|device:N --plan PLAN [--plan PLAN ..] -o PROFILE\n\n"
    "Measures the plans' launches, bare and with weights streamed inside, and says how much each\n"
    "may carry. An existing PROFILE of the same device keeps what it has and gets what it "
    "lacks.\n\n"
    "example: fmplan profile --on sim:adreno-750 --plan vit.plan.yaml -o adreno-750.profile.yaml\n";

po::options_description profile_flags() {
  po::options_description flags("options of fmplan profile");
  flags.add_options()("on", po::value<std::string>(),
                      "sim:CONFIG, a name in configs/ or a file, or device:N, an OpenCL device by "
                      "its number in fmexec --list-devices")(
      "plan", po::value<std::vector<std::string>>()->composing(),
      "whose launches; may be repeated")("output,o", po::value<std::string>(), "the profile")(
      "jobs", po::value<std::size_t>()->default_value(1), "simulations side by side")(
      "folds", po::value<std::size_t>()->default_value(5),
      "parts of the launches that are held out in turn to tell how well others are learnt")(
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
  for (const char* needed : {"on", "plan", "output"}) {
    if (values.count("help") == 0 && values.count(needed) == 0) {
      throw UserError(std::string("--") + needed + " is missing; see fmplan profile --help");
    }
  }
  const auto jobs = values["jobs"].as<std::size_t>(), folds = values["folds"].as<std::size_t>();
  if (jobs < 1 || jobs > 64) throw UserError("--jobs must be 1 to 64");
  if (folds < 2 || folds > 1000) throw UserError("--folds must be 2 to 1000");
  return values;
}

std::string described(const HeldOutErrors& errors) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << errors.mean * 100 << " % on average, "
       << errors.largest * 100 << " % at most, " << errors.within_tenth * 100
       << " % within 10 %, of " << errors.predictions;
  return text.str();
}

void print_summary(const DeviceProfile& profile, std::size_t measured, std::size_t folds) {
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
      chunks += load_capacity(launch_profile(entry)) / Bytes(64 * 1024);
    }
    std::cout << std::left << std::setw(16) << to_string(one) << std::right << std::setw(10)
              << count << std::setw(18) << chunks << '\n';
  }
  std::cout << "\nslowed times, piecewise linear, amounts held out: "
            << described(held_out_by_point(profile)) << '\n';
  if (profile.entries.size() < folds + fewest_learnt) return;
  const ModelErrors errors = held_out_by_launch(profile, folds);
  std::cout << "slowed times, learnt (XGBoost), launches held out: " << described(errors.slowed)
            << "\nbare times, learnt (XGBoost), launches held out:   " << described(errors.bare)
            << '\n';
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
  for (const std::string& path : values["plan"].as<std::vector<std::string>>()) {
    plans.push_back(read_plan(path));
  }
  const ProfileTarget target = profile_target(values["on"].as<std::string>());
  DeviceProfile profile;
  profile.device = target.device;
  profile.measured_by = target.tool;
  if (std::filesystem::exists(output)) {
    profile = read_profile(output);
    if (profile.device != target.device) {
      throw UserError(output + " is the profile of device '" + profile.device + "', not of '" +
                      target.device + "': give it another name");
    }
  }
  AtomicFile file(output);
  const std::size_t measured =
      profile_launches(plans, target, values["jobs"].as<std::size_t>(), &profile);
  file.stream() << to_yaml(profile);
  file.commit();
  print_summary(profile, measured, values["folds"].as<std::size_t>());
  return ExitStatus::done;
}

}  // namespace fm
