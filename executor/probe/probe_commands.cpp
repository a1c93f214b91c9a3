#include "executor/probe/probe_commands.hpp"

#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "core/atomic_file.hpp"
#include "core/progress_bar.hpp"
#include "core/version.hpp"
#include "executor/command_line.hpp"
#include "executor/probe/probe_compare.hpp"
#include "executor/probe/probe_config.hpp"
#include "executor/probe/probe_run.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmprobe -o CONFIG [--raw RAW] [--base NAME|FILE] [--device NAME] [--only CURVE ...]\n"
    "       fmprobe analyse --raw RAW --base NAME|FILE [-o CONFIG]\n"
    "       fmprobe compare RAW RAW [--within PERCENT]\n"
    "Measures a device with the microbenchmarks of `fmsim microbench` and writes its config: what\n"
    "was measured, with its spread; the rest is the base's. Under three minutes.\n\n"
    "Example: fmprobe -o my-phone.yaml --raw my-phone.json --base adreno-750\n\n";

po::options_description measure_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>(), "config to write; - is standard output");
  add("raw", po::value<std::string>(), "write all points there, as JSON");
  add("base", po::value<std::string>(),
      "config that gives what curves do not show (default: by vendor, of which family it says)");
  add("only", po::value<std::vector<std::string>>()->composing(),
      "measure only this curve; may be repeated");
  add("ring", po::value<std::string>(),
      "order of pointer chases: sequential, or shuffled (default on CPUs, whose prefetchers follow "
      "strides)");
  add("time-limit", po::value<double>()->default_value(150), "seconds after which no point begins");
  add("disk-folder", po::value<std::string>()->default_value("."),
      "where 128 MiB are written, read and removed");
  add("device", po::value<std::string>(),
      "index or part of the name of an OpenCL device (default: the first GPU, else CPU)");
  add("list-devices", "print the OpenCL devices and stop");
  add("list", "print the curves and stop");
  add("help,h", "print this");
  add("version", "print the version");
  return options;
}

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
  const ProbeData data = read_probe_data(raw);
  try {
    write_config(data, base, output);
  } catch (const std::out_of_range& error) {
    throw UserError({raw}, std::string("a point is not where the suite has it: ") + error.what());
  }
  return ExitStatus::done;
}

ExitStatus compare_files(int argc, const char* const* argv) {
  po::options_description options("Options");
  options.add_options()("within", po::value<double>()->default_value(10),
                        "percent that values may be apart");
  options.add_options()("help,h", "print this");
  // Two words first: options follow.
  int words = 1;
  while (words < argc && argv[words][0] != '-') ++words;
  const po::variables_map values =
      parse_command_line(argc - words + 1, argv + words - 1, options, "fmprobe compare");
  if (values.count("help") != 0) {
    std::cout << usage << options;
    return ExitStatus::done;
  }
  const double within = values["within"].as<double>();
  if (words != 3 || !(within > 0)) {
    throw UserError("compare takes two files, then --within PERCENT above 0; see fmprobe --help");
  }
  const ProbeComparison comparison =
      compare(read_probe_data(argv[1]), read_probe_data(argv[2]), within / 100);
  if (comparison.points == 0) throw UserError("the two files have no point in common");
  std::cout << comparison.text << comparison.apart << " of " << comparison.points
            << " points are farther apart\n";
  return ExitStatus::done;
}

/// Structure that no curve shows, and figures until measured.
std::string default_base(const OpenClDevice& device) {
  if (device.computes_in_host_memory()) return "pocl-host";
  if (device.name.find("Adreno") != std::string::npos ||
      device.vendor.find("QUALCOMM") != std::string::npos) {
    return "adreno-750";
  }
  if (device.name.find("Mali") != std::string::npos) return "mali-g715";
  throw UserError(device.name + ": of what family it is cannot be told; give --base");
}

ProbeOptions probe_options(const po::variables_map& values) {
  ProbeOptions options;
  if (values.count("only") != 0) options.only = values["only"].as<std::vector<std::string>>();
  options.seconds = values["time-limit"].as<double>();
  options.disk_folder = values["disk-folder"].as<std::string>();
  if (!(options.seconds > 0)) throw UserError("--time-limit must be above 0 seconds");
  if (!std::filesystem::is_directory(options.disk_folder)) {
    throw UserError("--disk-folder " + options.disk_folder + ": there is no such folder");
  }
  check_curves(options.only);
  return options;
}

RingOrder ring_order(const po::variables_map& values, RingOrder otherwise) {
  if (values.count("ring") == 0) return otherwise;
  const std::string word = values["ring"].as<std::string>();
  if (word == "sequential") return RingOrder::sequential;
  if (word == "shuffled") return RingOrder::shuffled;
  throw UserError("--ring " + word + ": " + accepted_words(word, {"sequential", "shuffled"}));
}

/// What the driver leaves open is the base's.
void complete(const std::string& base, ProbeData* data) {
  const DeviceConfig known = DeviceConfig::load(base);
  // An Adreno's compute unit is two of a config's cores (configs/base/adreno.yaml).
  if (known.word("gpu.isa") == "adreno") data->cores *= 2;
  if (data->clock_hertz == 0) {
    data->clock_hertz = known.hertz("gpu.clock");
    data->notes.push_back("clock taken from " + base);
  }
}

ExitStatus measure(const po::variables_map& values) {
  const std::string output = required(values, "output", "fmprobe");
  const ProbeOptions options = probe_options(values);
  ring_order(values, RingOrder::sequential);
  const OpenClDevice chosen =
      select_device(values.count("device") != 0 ? values["device"].as<std::string>() : "");
  const std::string base =
      values.count("base") != 0 ? values["base"].as<std::string>() : default_base(chosen);
  DeviceConfig::load(base);  // before the minutes
  AtomicFile::refuse_input(output, {base});
  const std::string raw = values.count("raw") != 0 ? values["raw"].as<std::string>() : "";
  if (!raw.empty() && raw == output) throw UserError("-o and --raw are the same file");
  for (const std::string& path : {output, raw}) {
    if (!path.empty() && path != "-") AtomicFile writable(path);
  }
  std::cerr << "fmprobe: measuring " << chosen.name << " for at most " << options.seconds
            << " s; other programs should rest\n";
  ProbeDevice device(chosen);
  device.order = ring_order(values, device.order);
  ProbeData data;
  {
    ProgressBar bar("probing");
    data =
        probe(device, options, [&](std::size_t done, std::size_t total) { bar.show(done, total); });
  }
  if (device.host_timed) data.notes.emplace_back(no_profiling);
  complete(base, &data);
  for (const std::string& note : data.notes) std::cerr << "fmprobe: note: " << note << "\n";
  if (!raw.empty()) {
    AtomicFile file(raw);
    file.stream() << to_json(data);
    file.commit();
  }
  write_config(data, base, output);
  return ExitStatus::done;
}

}  // namespace

ExitStatus fmprobe(int argc, const char* const* argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "analyse") return analyse(argc - 1, argv + 1);
  if (command == "compare") return compare_files(argc - 1, argv + 1);
  const po::options_description options = measure_options();
  const po::variables_map values = parse_command_line(argc, argv, options, "fmprobe");
  if (values.count("help") != 0) {
    std::cout << usage << options;
  } else if (values.count("version") != 0) {
    std::cout << "fmprobe " << version << "\n";
  } else if (values.count("list-devices") != 0) {
    std::cout << describe(list_devices()) << "\n";
  } else if (values.count("list") != 0) {
    for (const std::string& name : probe_curve_names()) std::cout << name << "\n";
  } else {
    return measure(values);
  }
  return ExitStatus::done;
}

}  // namespace fm
