// fmsim reuse: how large a cache would have to be, from the requests that cross a port.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/progress_bar.hpp"
#include "core/version.hpp"
#include "sim/commands/command.hpp"
#include "sim/commands/config_options.hpp"
#include "sim/commands/option_table.hpp"
#include "sim/memory/request_order.hpp"
#include "sim/replay/simulation.hpp"
#include "sim/stats/reuse_distance.hpp"

namespace fm {
namespace {

struct ReuseOptions {
  std::string config, trace;
  std::vector<std::string> settings;
  std::string launch = "all", port = "core-l2";
  std::uint64_t line = 64;
  bool json = false, help = false, version = false;
  std::string output = "-";
};

const std::vector<OptionRow<ReuseOptions>>& rows() {
  static const std::vector<OptionRow<ReuseOptions>> rows{
      {"config", "NAME|FILE", "device config: a file, or a name in configs/",
       &ReuseOptions::config},
      {"trace", "FILE", "what to replay (fmexec --record)", &ReuseOptions::trace},
      {"set", "PATH=VALUE", "replace a config value; may be repeated", &ReuseOptions::settings},
      {"launch", "ID|all", "while this launch runs, or always", &ReuseOptions::launch},
      {"port", "PORT", "core-cluster, core-l2, l2-slc or slc-dram", &ReuseOptions::port},
      {"line", "BYTES", "line of the caches compared, a power of two", &ReuseOptions::line},
      {"json", "", "write JSON instead of a table", &ReuseOptions::json},
      {"output,o", "FILE", "where to; - is standard output", &ReuseOptions::output},
      {"help,h", "", "this text", &ReuseOptions::help},
      {"version", "", "the version", &ReuseOptions::version},
  };
  return rows;
}

std::string help() {
  ReuseOptions options;
  std::ostringstream text;
  text
      << "usage: fmsim reuse --config NAME|FILE --trace FILE [--launch ID|all] [--port PORT]\n\n"
      << "Prints the hit ratio that a fully associative LRU cache of each size would have for the\n"
      << "requests that cross a port: exact, in one simulation.\n\n"
      << describe("Options", rows(), &options) << "\nExample:\n"
      << "  fmsim reuse --config mali-g715 --trace vit.trace --launch all --port core-l2\n";
  return text.str();
}

void check(const ReuseOptions& options) {
  if (options.config.empty()) throw UserError("--config is missing; see fmsim reuse --help");
  if (options.trace.empty()) throw UserError("--trace is missing; see fmsim reuse --help");
  constexpr std::uint64_t longest = 65536;
  if (options.line < 8 || options.line > longest || (options.line & (options.line - 1)) != 0) {
    throw UserError("--line " + std::to_string(options.line) + ": needs a power of two from 8 to " +
                    std::to_string(longest));
  }
}

/// The lines that requests touch while a launch runs.
class Watch {
 public:
  explicit Watch(const ReuseOptions& options)
      : options_(options),
        order_([this](const LineRequest& request) { note(request); }),
        gate_(&order_, options.launch == "all") {}

  void attach(SimulationOptions* simulation) {
    simulation->tap = &gate_;
    simulation->tap_port = parse_request_port("--port", options_.port);
    if (options_.launch == "all") return;
    simulation->on_launch = [this](const std::string& launch, bool begins) {
      if (launch != options_.launch) return;
      seen_ = true;
      gate_.open = begins;
    };
  }
  const ReuseDistance& finish() {
    order_.finish();
    if (!seen_ && options_.launch != "all") {
      throw UserError("--launch " + options_.launch + ": the trace has no launch of that name");
    }
    return distances_;
  }

 private:
  class Gate : public RequestTap {
   public:
    Gate(RequestTap* next, bool is_open) : open(is_open), next_(next) {}
    void arriving(const LineRequest& request) override {
      if (open) next_->arriving(request);
    }
    bool open;

   private:
    RequestTap* next_;
  };
  void note(const LineRequest& request) {
    const std::uint64_t last = (request.address + request.bytes - 1) / options_.line;
    for (std::uint64_t line = request.address / options_.line; line <= last; ++line) {
      distances_.access(line);
    }
  }
  const ReuseOptions& options_;
  ReuseDistance distances_;
  RequestOrder order_;
  Gate gate_;
  bool seen_ = false;
};

/// Powers of two of lines and the sizes half-way between, until nothing more is gained.
std::vector<std::uint64_t> capacities(const ReuseDistance& distances) {
  std::vector<std::uint64_t> lines = {1};
  const std::uint64_t all = distances.accesses() - distances.keys();
  for (std::uint64_t power = 2; distances.hits(lines.back()) < all; power *= 2) {
    lines.push_back(power);
    if (power > 2 && distances.hits(power) < all) lines.push_back(power + power / 2);
  }
  return lines;
}

std::string text_of(const ReuseDistance& distances, const ReuseOptions& options) {
  std::ostringstream text;
  text << "accesses " << distances.accesses() << ", lines of " << options.line << " B "
       << distances.keys() << " (" << distances.keys() * options.line << " B)\n\n"
       << std::setw(14) << "capacity" << std::setw(12) << "hit ratio"
       << "\n";
  for (const std::uint64_t lines : capacities(distances)) {
    text << std::setw(12) << lines * options.line << " B" << std::setw(12) << std::fixed
         << std::setprecision(4)
         << static_cast<double>(distances.hits(lines)) / static_cast<double>(distances.accesses())
         << "\n";
  }
  return text.str();
}

std::string json_of(const ReuseDistance& distances, const ReuseOptions& options) {
  nlohmann::ordered_json json = {{"launch", options.launch},
                                 {"port", options.port},
                                 {"line_bytes", options.line},
                                 {"accesses", distances.accesses()},
                                 {"lines", distances.keys()}};
  json["curve"] = nlohmann::ordered_json::array();
  for (const std::uint64_t lines : capacities(distances)) {
    json["curve"].push_back(
        {{"capacity_bytes", lines * options.line}, {"hits", distances.hits(lines)}});
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

ExitStatus run_reuse(int argc, const char* const* argv) {
  ReuseOptions options;
  parse_options(argc, argv, describe("Options", rows(), &options), "fmsim reuse");
  if (options.help || options.version) {
    std::cout << (options.help ? help() : std::string("fmsim ") + version + "\n");
    return ExitStatus::done;
  }
  check(options);
  const DeviceConfig config = load_config(options.config, options.settings);
  check_output(options.output, options.config, options.trace);
  AtomicFile output(options.output);
  const Trace trace = read_trace(options.trace);
  Watch watch(options);
  SimulationOptions simulation;
  watch.attach(&simulation);
  ProgressBar bar("simulating");
  constexpr std::size_t steps = 1000;
  simulation.on_progress = [&bar](double share) {
    bar.show(static_cast<std::size_t>(share * steps), steps);
  };
  simulate(config, trace, simulation);
  const ReuseDistance& distances = watch.finish();
  if (distances.accesses() == 0)
    throw UserError("--port " + options.port + ": no request crossed it");
  output.stream() << (options.json ? json_of(distances, options) : text_of(distances, options));
  output.commit();
  return ExitStatus::done;
}

}  // namespace fm
