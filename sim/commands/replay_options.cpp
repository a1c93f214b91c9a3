#include "sim/commands/replay_options.hpp"

#include <set>
#include <sstream>

#include "core/device_config.hpp"
#include "core/diagnostics.hpp"
#include "sim/commands/command.hpp"
#include "sim/commands/option_table.hpp"

namespace fm {
namespace {

constexpr std::uint64_t most_jobs = 256;

using Row = OptionRow<ReplayOptions>;

const std::vector<Row>& rows() {
  static const std::vector<Row> rows{
      {"config", "NAME|FILE",
       "device config: a file, or a name in configs/ (mali-g715); several: every trace on each",
       &ReplayOptions::configs},
      {"trace", "FILE", "what to replay (fmexec --record); several: each on every config",
       &ReplayOptions::traces},
      {"jobs", "N", "of several simulations run N side by side", &ReplayOptions::jobs},
      {"set", "PATH=VALUE", "replace a config value; may be repeated", &ReplayOptions::settings},
      {"capacities", "MODE",
       "what --set of a capacity does to latency and energy of an access: nothing (iso-latency), "
       "or "
       "scaled: times the square root of the capacities' ratio",
       &ReplayOptions::capacities},
      {"against", "NAME|FILE",
       "compare with this config, without --set: what changes, largest effects first",
       &ReplayOptions::against},
      {"assumed-within", "SHARE",
       "with --against: flag differences whose sign changes while assumed numbers move by this "
       "share (25%); simulates 16 times more",
       &ReplayOptions::assumed_within},
      {"json", "", "write the result as JSON instead of the summary", &ReplayOptions::json},
      {"output,o", "FILE",
       "where to; - is standard output; of several simulations a folder, one file each",
       &ReplayOptions::output},
      {"summary", "MODE",
       "which summary: brief, or wide: also the run as lanes over time, its kernels, memory "
       "hierarchy and stalls; with --json and -o FILE it is printed as well",
       &ReplayOptions::summary},
      {"chrome-trace", "FILE", "also write the timeline for Perfetto or chrome://tracing",
       &ReplayOptions::chrome_trace},
      {"sample", "MODE",
       "full: simulate every access; auto: simulate what repeats a few times, account for the "
       "rest and say how far that may be off",
       &ReplayOptions::sample},
      {"launches", "A:B",
       "simulate only launches A to B - 1, by number or id, and nothing else of the host program; "
       "A alone is one launch",
       &ReplayOptions::launches},
      {"warm", "", "with --launches: caches know what the launches before touched",
       &ReplayOptions::warm},
      {"repeat", "N", "run the host program N times, warm from the second on; results of the last",
       &ReplayOptions::repeat},
      {"perfect", "PART",
       "a part that costs nothing: l2, dram, texture, disk or launch; may be repeated",
       &ReplayOptions::perfect},
      {"dump-requests", "PORT=FILE",
       "also write the requests of a port as CSV, compressed if FILE ends in .zst: core-cluster, "
       "core-l2, l2-slc, slc-dram",
       &ReplayOptions::dump_requests},
      {"interval", "TIME",
       "also give what the counters moved by in every TIME of the run: 10us (in JSON and the "
       "chrome trace)",
       &ReplayOptions::interval},
      {"explain", "",
       "print every value of the config with its unit, source and citation; needs no trace",
       &ReplayOptions::explain},
      {"help,h", "", "this text", &ReplayOptions::help},
      {"version", "", "the version", &ReplayOptions::version},
  };
  return rows;
}

void check_several(const ReplayOptions& options) {
  if (!options.chrome_trace.empty()) {
    throw UserError("--chrome-trace writes one file: give one --config and one --trace");
  }
  if (!options.dump_requests.empty()) {
    throw UserError("--dump-requests writes one file: give one --config and one --trace");
  }
  if (options.json && options.output == "-") {
    throw UserError("--json of several simulations needs -o FOLDER");
  }
  if (!options.summary.empty() && (options.json || options.output == "-")) {
    throw UserError(
        "--summary of several simulations goes into files: it needs -o FOLDER, without --json");
  }
}

void check_against(const ReplayOptions& options) {
  static const std::set<std::string> taken{
      "against", "assumed-within", "capacities", "config", "jobs", "json",  "launches",
      "output",  "perfect",        "repeat",     "sample", "set",  "trace", "warm"};
  if (options.several()) throw UserError("--against compares one --config with one --trace");
  for (const GivenOption& option : options.given) {
    if (taken.count(option.name) != 0) continue;
    throw UserError("--against prints a comparison: it does not go with --" + option.name);
  }
  if (options.assumed_within.empty()) return;
  const SourceLocation where{"--assumed-within " + options.assumed_within};
  const double share = parse_quantity(options.assumed_within, QuantityKind::ratio, where);
  if (share <= 0 || share >= 1) throw UserError(where, "needs more than 0 and less than 100 %");
}

void check_explain(const ReplayOptions& options) {
  if (options.configs.size() > 1) throw UserError("--explain explains one --config");
  static const std::set<std::string> of_a_config{"explain", "config", "set", "capacities",
                                                 "output"};
  for (const GivenOption& option : options.given) {
    if (of_a_config.count(option.name) != 0) continue;
    throw UserError(
        "--explain simulates nothing: it goes with --config, --set, --capacities and -o, not with "
        "--" +
        option.name);
  }
}

void check(const ReplayOptions& options) {
  if (options.config.empty()) throw UserError("--config is missing; see fmsim --help");
  if (options.jobs < 1 || options.jobs > most_jobs) {
    throw UserError("--jobs " + std::to_string(options.jobs) + ": needs 1 to " +
                    std::to_string(most_jobs));
  }
  if (options.capacities != "iso-latency" && options.capacities != "scaled") {
    throw UserError("--capacities " + options.capacities + ": " +
                    accepted_words(options.capacities, {"iso-latency", "scaled"}));
  }
  if (options.explain) return check_explain(options);
  if (options.trace.empty()) throw UserError("--trace is missing; see fmsim --help");
  if (options.sample != "full" && options.sample != "auto") {
    throw UserError("--sample " + options.sample + ": " +
                    accepted_words(options.sample, {"full", "auto"}));
  }
  if (!options.summary.empty() && options.summary != "brief" && options.summary != "wide") {
    throw UserError("--summary " + options.summary + ": " +
                    accepted_words(options.summary, {"brief", "wide"}));
  }
  if (options.repeat == 0) throw UserError("--repeat 0: run it at least once");
  if (!options.launches.empty() && (options.repeat > 1 || options.sample == "auto")) {
    throw UserError(
        "--launches simulates a part of one run in full: it goes neither with --repeat "
        "nor with --sample auto");
  }
  if (!options.dump_requests.empty() && options.sample == "auto") {
    throw UserError(
        "--dump-requests needs --sample full: launches that --sample auto leaves out send no "
        "requests");
  }
  if (options.warm && options.launches.empty()) {
    throw UserError("--warm says what --launches starts from; see fmsim --help");
  }
  if (!options.interval.empty() && !options.json && options.chrome_trace.empty()) {
    throw UserError("--interval goes with --json or --chrome-trace: the summary has no such table");
  }
  if (!options.against.empty()) return check_against(options);
  if (!options.assumed_within.empty()) {
    throw UserError("--assumed-within goes with --against; see fmsim --help");
  }
  if (options.several()) return check_several(options);
  if (!options.summary.empty() && options.json && options.output == "-") {
    throw UserError("--summary beside --json needs -o FILE: standard output takes one of the two");
  }
}

}  // namespace

ReplayOptions parse_replay_options(int argc, const char* const* argv) {
  ReplayOptions options;
  options.given = parse_options(argc, argv, describe("Options", rows(), &options), "fmsim");
  if (!options.configs.empty()) options.config = options.configs.front();
  if (!options.traces.empty()) options.trace = options.traces.front();
  if (!options.help && !options.version) check(options);
  return options;
}

std::string replay_help() {
  ReplayOptions options;
  std::ostringstream text;
  text
      << "usage: fmsim [COMMAND] --config NAME|FILE --trace FILE [--set PATH=VALUE ...] [--json] "
         "[-o FILE]\n\n"
      << "Replays a recorded trace on a simulated phone and says how long it takes and why.\n\n"
      << describe("Options", rows(), &options) << "\n"
      << list_of_commands() << "\nExample:\n"
      << "  fmsim --config mali-g715 --trace vit.trace --set l2.size=4MiB\n"
      << "  fmsim --config mali-g715 --trace vit.trace --set l2.size=4MiB --against mali-g715\n"
      << "  fmsim --config mali-g715 --trace vit.trace --json -o vit.json --summary wide\n"
      << "  fmsim --config mali-g715 --config adreno-750 --trace vit.trace --trace ocr.trace "
         "--jobs 2\n\n"
      << "Exit status: 0 done, 1 a conservation law is broken, 2 the input is wrong, 3 the machine "
         "failed\n(disk full, out of memory).\n";
  return text.str();
}

}  // namespace fm
