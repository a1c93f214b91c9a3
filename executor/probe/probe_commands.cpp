#include "executor/probe/probe_commands.hpp"

#include <filesystem>
#include <iostream>

#include "core/atomic_file.hpp"
#include "core/version.hpp"
#include "executor/command_line.hpp"
#include "executor/probe/probe_config.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmprobe -o CONFIG [--raw RAW] [--base NAME|FILE] [--device NAME]\n"
    "       fmprobe analyse --raw RAW --base NAME|FILE [-o CONFIG]\n\n";

po::options_description analyse_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("raw", po::value<std::string>(),
      "raw data of fmprobe, or of `fmsim microbench --config NAME --json`");
  add("base", po::value<std::string>(), "config that gives what curves do not show");
  add("output,o", po::value<std::string>(), "write a config there (default: print the figures)");
  add("help,h", "print this");
  return options;
}

std::string required(const po::variables_map& values, const std::string& option,
                     const std::string& command) {
  if (values.count(option) == 0) {
    throw UserError("--" + option + " is missing; see " + command + " --help");
  }
  return values[option].as<std::string>();
}

/// As a file at `output` names it: a bare name stays, a path becomes relative to the file.
std::string base_reference(const std::string& base, const std::string& output) {
  const bool is_path =
      base.find('/') != std::string::npos || base.find(".yaml") != std::string::npos;
  if (!is_path || output == "-") return base;
  namespace fs = std::filesystem;
  return fs::absolute(base).lexically_proximate(fs::absolute(output).parent_path()).string();
}

void write_config(const ProbeData& data, const std::string& base, const std::string& output) {
  const DeviceConfig known = DeviceConfig::load(base);
  Figures figures = figures_of(data, known);
  with_figures(known, &figures);
  if (output.empty()) {
    std::cout << report_text(data, figures);
    return;
  }
  const std::string name = output == "-" ? "probed" : std::filesystem::path(output).stem().string();
  AtomicFile file(output);
  file.stream() << config_yaml(data, figures, name, base_reference(base, output));
  file.commit();
}

ExitStatus analyse(int argc, const char* const* argv) {
  const po::options_description options = analyse_options();
  const po::variables_map values = parse_command_line(argc, argv, options, "fmprobe analyse");
  if (values.count("help") != 0) {
    std::cout << usage << options;
    return ExitStatus::done;
  }
  const std::string raw = required(values, "raw", "fmprobe analyse");
  const std::string base = required(values, "base", "fmprobe analyse");
  const std::string output = values.count("output") != 0 ? values["output"].as<std::string>() : "";
  if (!output.empty()) AtomicFile::refuse_input(output, {raw, base});
  write_config(read_probe_data(raw), base, output);
  return ExitStatus::done;
}

}  // namespace

ExitStatus fmprobe(int argc, const char* const* argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "analyse") return analyse(argc - 1, argv + 1);
  throw UserError("nothing to do");
}

}  // namespace fm
