#include "executor/fmexec_options.hpp"

#include <cmath>
#include <iostream>

#include "core/device_config.hpp"
#include "core/diagnostics.hpp"
#include "core/version.hpp"
#include "executor/command_line.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: fmexec --plan PLAN --weights WEIGHTS [options]\n"
    "       fmexec --plan PLAN --record TRACE [options]   (records launches without running them)\n"
    "       fmexec microbench --record DIR   (see fmexec microbench --help)\n"
    "       fmexec tune --plan PLAN -o TILES (see fmexec tune --help)\n"
    "Executes a plan on an OpenCL device, streaming weights from disk, and measures it.\n\n"
    "Example: fmexec --plan vit.plan.yaml --weights vit.fmw --verify vit.ref.npz --record "
    "vit.trace\n";

po::options_description described_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("plan", po::value<std::string>(), "plan written by fmplan");
  add("weights", po::value<std::string>(), "weights written by `fmplan pack`");
  add("record", po::value<std::string>(),
      "write the trace of the first run, for fmsim; without --weights, of the run fmexec would "
      "make: only the work-groups that are recorded run");
  add("device", po::value<std::string>(),
      "index or part of the name of an OpenCL device (default: the first GPU, else CPU)");
  add("list-devices", "print the OpenCL devices and what they offer, and stop");
  const auto texts = [] { return po::value<std::vector<std::string>>()->composing(); };
  add("inputs", texts(),
      ".npz with input:<name> arrays (default: those of --verify, else random); of a queue of "
      "models MODEL=FILE, for each");
  add("seed", po::value<std::uint64_t>(), "of random inputs (default 1)");
  add("outputs", texts(),
      "write the outputs as output:<name> arrays of an .npz; of a queue MODEL=FILE");
  add("verify", texts(),
      "compare the outputs with output:<name> of an .npz; of a queue MODEL=FILE; exit status 4 "
      "when they differ");
  add("verify-ops", texts(),
      "compare what each launch writes with tensor:<name> of an .npz (ort_reference.py --tensors "
      "PLAN), of a queue MODEL=FILE; exit status 4 naming the first that differs; excludes "
      "--record, --repeat, --warmup and --check-finite");
  add("tolerance", po::value<double>(),
      "largest relative error accepted (default: 1.5 x half_error:<name> of the .npz with f16 "
      "storage, 1e-5 with f32)");
  add("half-bars", "accept 1.5 x half_error:<name> whatever the storage");
  add("check-finite",
      "look at the results of each launch and stop at the first that is NaN or infinite, with exit "
      "status 4; excludes --record, --repeat and --warmup");
  add("check-bounds",
      "run kernels that compare every index with its tensor's extent, and stop at the first access "
      "outside, with exit status 4; times are not those of other runs");
  add("launch-cap", po::value<std::string>(),
      "split launches that would keep the device longer, e.g. 100ms; none: never (default: 100ms, "
      "on CPUs none)");
  add("repeat", po::value<std::size_t>(), "measured runs (default 1)");
  add("warmup", po::value<std::size_t>(), "runs before them (default 0)");
  add("profile", "print a line for every launch");
  add("throttle-disk", po::value<std::string>(), "read weights no faster than this, e.g. 50MB/s");
  add("json", "report as result.json");
  add("output,o", po::value<std::string>(),
      "where the report goes (default -, standard output); *.json implies --json");
  add("help,h", "print this");
  add("version", "print the version");
  return options;
}

std::string text(const po::variables_map& values, const char* name) {
  return values.count(name) ? values[name].as<std::string>() : std::string();
}

bool ends_with(const std::string& word, const std::string& end) {
  return word.size() >= end.size() && word.compare(word.size() - end.size(), end.size(), end) == 0;
}

std::vector<std::string> texts(const po::variables_map& values, const char* name) {
  return values.count(name) ? values[name].as<std::vector<std::string>>()
                            : std::vector<std::string>();
}

std::optional<Nanoseconds> launch_cap_from(const std::string& text) {
  if (text.empty() || text == "none") return std::nullopt;
  const double picoseconds = parse_quantity(text, QuantityKind::time, {"--launch-cap", 0, 0});
  constexpr double least = 1e6, most = 1e15;
  if (picoseconds < least || picoseconds > most) {
    throw UserError("--launch-cap " + text + ": must be from 1us to 1000s, or none");
  }
  return Nanoseconds(static_cast<std::uint64_t>(picoseconds / 1e3));
}

FmexecOptions from_values(const po::variables_map& values) {
  FmexecOptions options;
  options.plan = text(values, "plan");
  options.weights = text(values, "weights");
  options.record = text(values, "record");
  options.device = text(values, "device");
  options.inputs = texts(values, "inputs");
  options.verify = texts(values, "verify");
  options.outputs = texts(values, "outputs");
  options.verify_ops = texts(values, "verify-ops");
  if (values.count("output")) options.destination = text(values, "output");
  if (values.count("tolerance")) options.tolerance = values["tolerance"].as<double>();
  options.half_bars = values.count("half-bars") > 0;
  options.json = values.count("json") > 0 || ends_with(options.destination, ".json");
  options.profile = values.count("profile") > 0;
  options.check_finite = values.count("check-finite") > 0;
  options.own_launch_cap = values.count("launch-cap") > 0;
  options.launch_cap = launch_cap_from(text(values, "launch-cap"));
  options.check_bounds = values.count("check-bounds") > 0;
  options.list_devices = values.count("list-devices") > 0;
  if (values.count("repeat")) options.repeat = values["repeat"].as<std::size_t>();
  if (values.count("warmup")) options.warmup = values["warmup"].as<std::size_t>();
  if (values.count("seed")) options.seed = values["seed"].as<std::uint64_t>();
  if (values.count("throttle-disk")) {
    options.disk_bytes_per_second = parse_quantity(
        text(values, "throttle-disk"), QuantityKind::bandwidth, {"--throttle-disk", 0, 0});
  }
  return options;
}

/// Without weights launches are only recorded: nothing runs that could be measured or compared.
void check_recording_alone(const po::variables_map& values) {
  for (const char* name :
       {"verify", "verify-ops", "outputs", "tolerance", "half-bars", "check-finite", "check-bounds",
        "launch-cap", "repeat", "warmup", "profile", "throttle-disk", "json", "output"}) {
    if (values.count(name) == 0) continue;
    throw UserError("--" + std::string(name) +
                    " needs --weights: without them launches are recorded, not run");
  }
}

/// Launches whose results are read back run one by one, in a run of their own.
void check_read_back(const FmexecOptions& options) {
  const bool ops = !options.verify_ops.empty();
  if (ops && options.check_finite) {
    throw UserError("--verify-ops and --check-finite exclude each other");
  }
  if ((ops || options.check_finite) &&
      (!options.record.empty() || options.repeat > 1 || options.warmup > 0)) {
    throw UserError(std::string(ops ? "--verify-ops" : "--check-finite") +
                    " reads back what each launch wrote, so its run is neither recorded nor "
                    "repeated: leave out --record, --repeat and --warmup");
  }
}

void check(const FmexecOptions& options) {
  if (options.list_devices) return;
  if (options.plan.empty()) throw UserError("--plan is missing; see fmexec --help");
  if (options.weights.empty() && options.record.empty()) {
    throw UserError("--weights is missing; see fmexec --help");
  }
  constexpr std::size_t most_runs = 1'000'000;  // also catches -1 read as unsigned
  if (options.repeat < 1 || options.repeat > most_runs || options.warmup > most_runs) {
    throw UserError("--repeat takes 1 to 1000000 runs and --warmup 0 to 1000000");
  }
  check_read_back(options);
  if (options.tolerance && options.half_bars) {
    throw UserError("--tolerance and --half-bars exclude each other");
  }
  if ((options.tolerance || options.half_bars) && options.verify.empty() &&
      options.verify_ops.empty()) {
    throw UserError("--tolerance and --half-bars need --verify or --verify-ops");
  }
  if (options.tolerance && !(std::isfinite(*options.tolerance) && *options.tolerance >= 0)) {
    throw UserError("--tolerance must be a number of at least 0");
  }
  if (options.disk_bytes_per_second && *options.disk_bytes_per_second <= 0) {
    throw UserError("--throttle-disk must be above 0");
  }
}

}  // namespace

std::optional<FmexecOptions> parse_fmexec_options(int argc, const char* const* argv) {
  const po::options_description described = described_options();
  const po::variables_map values = parse_command_line(argc, argv, described, "fmexec");
  if (values.count("help")) {
    std::cout << usage << "\n" << described;
    return std::nullopt;
  }
  if (values.count("version")) {
    std::cout << "fmexec " << version << "\n";
    return std::nullopt;
  }
  const FmexecOptions options = from_values(values);
  check(options);
  if (!options.list_devices && options.weights.empty()) check_recording_alone(values);
  return options;
}

}  // namespace fm
