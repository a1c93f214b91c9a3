#include "executor/fmexec_microbench.hpp"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "core/progress_bar.hpp"
#include "core/version.hpp"
#include "executor/command_line.hpp"
#include "executor/recorder/microbench_trace.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmexec microbench --record DIR [--only NAME ...] [--device NAME]\n"
    "Records the accesses of the microbenchmarks into DIR/NAME.trace, for `fmsim microbench`.\n\n"
    "Example: fmexec microbench --record traces/microbench\n";

po::options_description described_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("record", po::value<std::string>(), "folder for the traces; it must exist");
  add("only", po::value<std::vector<std::string>>()->composing(),
      "record only this microbenchmark; may be repeated");
  add("device", po::value<std::string>(),
      "index or part of the name of an OpenCL device (default: the first GPU, else CPU)");
  add("list", "print the microbenchmarks and stop");
  add("help,h", "print this");
  return options;
}

std::vector<Microbench> chosen(const po::variables_map& values) {
  std::vector<Microbench> suite = microbench_suite();
  if (values.count("only") == 0) return suite;
  std::vector<Microbench> picked;
  for (const std::string& name : values["only"].as<std::vector<std::string>>()) {
    const auto found = std::find_if(suite.begin(), suite.end(),
                                    [&](const Microbench& bench) { return bench.name == name; });
    if (found == suite.end()) {
      std::vector<std::string> names;
      for (const Microbench& bench : suite) names.push_back(bench.name);
      throw UserError("--only " + name + ": " + accepted_words(name, names));
    }
    picked.push_back(*found);
  }
  return picked;
}

/// What identifies the device and stays the same from run to run.
std::map<std::string, std::string> lasting_facts(const OpenClDevice& device) {
  return {{"platform", device.platform_name},
          {"device", device.type == CL_DEVICE_TYPE_CPU ? "CPU" : device.name}};
}

}  // namespace

ExitStatus fmexec_microbench(int argc, const char* const* argv) {
  const po::options_description options = described_options();
  const po::variables_map values = parse_command_line(argc, argv, options, "fmexec microbench");
  if (values.count("help") != 0) {
    std::cout << usage << "\n" << options;
    return ExitStatus::done;
  }
  const std::vector<Microbench> suite = chosen(values);
  if (values.count("list") != 0) {
    for (const Microbench& bench : suite) {
      std::cout << std::left << std::setw(22) << bench.name << bench.description << "\n";
    }
    return ExitStatus::done;
  }
  if (values.count("record") == 0) {
    throw UserError("--record is missing; see fmexec microbench --help");
  }
  const std::filesystem::path folder = values["record"].as<std::string>();
  if (!std::filesystem::is_directory(folder)) {
    throw UserError("--record " + folder.string() + ": there is no such folder");
  }
  const OpenClContext context(
      select_device(values.count("device") != 0 ? values["device"].as<std::string>() : ""));
  ProgramCache cache(context, "");  // logging builds are of no use to another run
  ProgressBar bar("recording");
  for (std::size_t i = 0; i < suite.size(); ++i) {
    bar.show(i, suite.size());
    ProgramRecorder programs(context, cache);
    write_trace((folder / (suite[i].name + ".trace")).string(),
                record_microbench(suite[i], programs, lasting_facts(context.device())));
  }
  return ExitStatus::done;
}

}  // namespace fm
