// fmsim: replays a trace on a simulated phone.

#include <unistd.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/plan.hpp"
#include "core/version.hpp"
#include "sim/replay/simulation.hpp"
#include "sim/stats/summary.hpp"

namespace fm {
namespace {

namespace po = boost::program_options;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string config, trace, output, chrome_trace, sample;
  std::vector<std::string> settings;
  bool json = false, summary = false, explain = false, help = false, version = false;
};

po::options_description options_of(Arguments* arguments) {
  po::options_description options("Options", 80);
  options.add_options()("config", po::value(&arguments->config)->value_name("NAME|FILE"),
                        "device config: a file, or a name in configs/ (mali-g715)")(
      "trace", po::value(&arguments->trace)->value_name("FILE"),
      "what to replay (fmexec --record)")(
      "set", po::value(&arguments->settings)->composing()->value_name("PATH=VALUE"),
      "replace a config value; may be repeated")("json", po::bool_switch(&arguments->json),
                                                 "write the result as JSON instead of the summary")(
      "output,o", po::value(&arguments->output)->default_value("-")->value_name("FILE"),
      "where to; - is standard output")("summary", po::bool_switch(&arguments->summary),
                                        "with --json and -o FILE: also print the summary")(
      "chrome-trace", po::value(&arguments->chrome_trace)->value_name("FILE"),
      "also write the timeline for Perfetto or chrome://tracing")(
      "sample", po::value(&arguments->sample)->default_value("full")->value_name("MODE"),
      "full: simulate every access")(
      "explain", po::bool_switch(&arguments->explain),
      "print every value of the config with its unit, source and citation; needs no trace")(
      "help,h", po::bool_switch(&arguments->help), "this text")(
      "version", po::bool_switch(&arguments->version), "the version");
  return options;
}

void print_help(const po::options_description& options) {
  std::cout
      << "usage: fmsim --config NAME|FILE --trace FILE [--set PATH=VALUE ...] [--json] [-o "
         "FILE]\n\n"
      << "Replays a recorded trace on a simulated phone and says how long it takes and why.\n\n"
      << options << "\nExample:\n"
      << "  fmsim --config mali-g715 --trace vit.trace --set l2.size=4MiB\n"
      << "  fmsim --config mali-g715 --trace vit.trace --json -o vit.json --summary\n\n"
      << "Exit status: 0 done, 1 a conservation law is broken, 2 the input is wrong.\n";
}

void parse(int argc, char** argv, const po::options_description& options) {
  po::variables_map given;
  try {
    po::store(po::command_line_parser(argc, argv).options(options).positional({}).run(), given);
    po::notify(given);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see fmsim --help");
  }
}

void require_complete(const Arguments& arguments) {
  if (arguments.config.empty()) throw UserError("--config is missing; see fmsim --help");
  if (arguments.explain) return;
  if (arguments.trace.empty()) throw UserError("--trace is missing; see fmsim --help");
  if (arguments.sample != "full") {
    throw UserError("--sample " + arguments.sample + ": " +
                    accepted_words(arguments.sample, {"full"}));
  }
  if (arguments.summary && (!arguments.json || arguments.output == "-")) {
    throw UserError(
        "--summary goes with --json and -o FILE: without them the summary is the output already");
  }
}

DeviceConfig load_config(const Arguments& arguments) {
  DeviceConfig config = DeviceConfig::load(arguments.config);
  for (const std::string& setting : arguments.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UserError("--set " + setting + ": write path=value, e.g. --set l2.size=4MiB");
    }
    config.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  config.check();
  return config;
}

/// A bar on standard error for what takes more than two seconds; silent unless that is a terminal.
class ProgressBar {
 public:
  void show(double share) {
    if (!terminal_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(200);
    constexpr int width = 50;
    const int filled = static_cast<int>(share * width);
    std::fprintf(stderr, "\r[%s%s] %3.0f %%", std::string(filled, '#').c_str(),
                 std::string(width - filled, ' ').c_str(), 100 * share);
    shown_ = true;
  }
  ~ProgressBar() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
  bool shown_ = false;
};

/// A what-if worth knowing of: tiles, placements and streaming were chosen for another device.
void note_other_device(const DeviceConfig& config, const Trace& trace) {
  if (trace.header.plan_yaml().empty()) return;
  const Plan plan = parse_plan(trace.header.plan_yaml(), "the plan inside the trace");
  if (plan.config.empty() || plan.config == config.name()) return;
  std::cerr << "fmsim: note: the trace's plan was made for " << plan.config << ", not for "
            << config.name() << "\n";
}

Result run(const DeviceConfig& config, const Arguments& arguments) {
  const Trace trace = read_trace(arguments.trace);
  ProgressBar bar;
  note_other_device(config, trace);
  SimulationOptions options;
  options.trace_file = arguments.trace;
  options.trace_digest = digest_of_file(arguments.trace);
  options.on_progress = [&bar](double share) { bar.show(share); };
  return simulate(config, trace, options);
}

void write(AtomicFile* file, const std::string& text) {
  file->stream() << text;
  file->commit();
}

ExitStatus check_laws(const Result& result) {
  ExitStatus status = ExitStatus::done;
  for (const ResultCheck& check : result.checks) {
    if (check.holds()) continue;
    std::cerr << "fmsim: error: a conservation law is broken: " << check.law << ": "
              << std::to_string(check.left) << " and " << std::to_string(check.right) << "\n";
    status = ExitStatus::internal_fault;
  }
  return status;
}

ExitStatus fmsim(int argc, char** argv) {
  Arguments arguments;
  const po::options_description options = options_of(&arguments);
  parse(argc, argv, options);
  if (arguments.help) return print_help(options), ExitStatus::done;
  if (arguments.version) {
    std::cout << "fmsim " << version << "\n";
    return ExitStatus::done;
  }
  require_complete(arguments);
  const DeviceConfig config = load_config(arguments);
  // Opened first: a folder that does not exist is better known before minutes of simulation.
  AtomicFile output(arguments.output);
  std::optional<AtomicFile> chrome_trace;
  if (!arguments.chrome_trace.empty()) chrome_trace.emplace(arguments.chrome_trace);
  if (arguments.explain) return write(&output, explanation_of(config)), ExitStatus::done;
  const Clock::time_point start = Clock::now();
  const Result result = run(config, arguments);
  const std::string summary =
      summary_of(result, config, std::chrono::duration<double>(Clock::now() - start).count());
  write(&output, arguments.json ? to_json(result) : summary);
  if (arguments.summary) std::cout << summary;
  if (chrome_trace) write(&*chrome_trace, to_chrome_trace(result));
  return check_laws(result);
}

}  // namespace
}  // namespace fm

int main(int argc, char** argv) {
  return fm::run_main("fmsim", [&] { return fm::fmsim(argc, argv); });
}
