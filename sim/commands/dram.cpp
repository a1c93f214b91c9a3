// fmsim dram: one DRAM channel alone under a closed loop of requests.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "core/atomic_file.hpp"
#include "core/version.hpp"
#include "sim/commands/command.hpp"
#include "sim/commands/config_options.hpp"
#include "sim/commands/option_table.hpp"
#include "sim/memory/dram_mapping.hpp"
#include "sim/memory/dram_stream.hpp"
#include "sim/memory/memory_parameters.hpp"

namespace fm {
namespace {

struct DramOptions {
  std::string config = "mali-g715", preset, mapping, stream = "seq", window = "full";
  std::string write_share = "0", output = "-";
  std::uint64_t requests = 1000000, bytes = 64;
  std::vector<std::string> settings;
  bool json = false, help = false, version = false;
};

const std::vector<OptionRow<DramOptions>>& rows() {
  static const std::vector<OptionRow<DramOptions>> rows{
      {"preset", "NAME", "DRAM part: a file, or a name in configs/dram/ (lpddr5x-8533)",
       &DramOptions::preset},
      {"config", "NAME|FILE", "device whose controller it is", &DramOptions::config},
      {"mapping", "M",
       "address mapping: fields from high to low bits (\"row bank group column\"), or another "
       "simulator's name for one (RoBaRaCoCh, rochrababgco, MOP4CLXOR, ...)",
       &DramOptions::mapping},
      {"stream", "seq|rnd", "addresses 0, 64, 128, ..; or uniform in 1 GiB, 64-byte aligned",
       &DramOptions::stream},
      {"requests", "N", "how many", &DramOptions::requests},
      {"bytes", "N", "of a request; smaller ones make up 64-byte aligned groups",
       &DramOptions::bytes},
      {"window", "W|full", "requests outstanding; full: the queue is never short of one",
       &DramOptions::window},
      {"write-share", "S", "part of the requests that write, 0 to 1", &DramOptions::write_share},
      {"set", "PATH=VALUE", "replace a config value; may be repeated", &DramOptions::settings},
      {"json", "", "write JSON", &DramOptions::json},
      {"output,o", "FILE", "where to; - is standard output", &DramOptions::output},
      {"help,h", "", "this text", &DramOptions::help},
      {"version", "", "the version", &DramOptions::version},
  };
  return rows;
}

std::string help_text() {
  DramOptions options;
  std::ostringstream text;
  text << "usage: fmsim dram --preset NAME [--mapping M] [--stream seq|rnd] [--window W|full]\n\n"
       << "Drives one DRAM channel in a closed loop and prints bandwidth, latency and commands.\n"
       << "dram.controller_latency is left out: a request reaches the scheduler one command clock "
          "after it is sent.\n\n"
       << describe("Options", rows(), &options) << "\nExample:\n"
       << "  fmsim dram --preset lpddr5x-8533 --stream rnd --window 16\n";
  return text.str();
}

double number_in(const std::string& option, const std::string& text, double low, double high) {
  std::istringstream stream(text);
  double value = 0;
  if (!(stream >> value) || !stream.eof() || value < low || value > high) {
    std::ostringstream message;
    message << "--" << option << " " << text << ": needs a number from " << low << " to " << high;
    throw UserError(message.str());
  }
  return value;
}

DramStream stream_of(const DramOptions& options) {
  DramStream stream;
  if (options.stream != "seq" && options.stream != "rnd") {
    throw UserError("--stream " + options.stream + ": " +
                    accepted_words(options.stream, {"seq", "rnd"}));
  }
  stream.pattern =
      options.stream == "seq" ? DramStream::Pattern::sequential : DramStream::Pattern::random;
  if (options.requests == 0) throw UserError("--requests 0: needs at least one");
  stream.requests = options.requests;
  if (options.window != "full") {
    const double window = number_in("window", options.window, 1, 4096);
    if (window != std::floor(window)) {
      throw UserError("--window " + options.window + ": needs a whole number, or full");
    }
    stream.window = static_cast<std::uint32_t>(window);
  }
  stream.write_share = number_in("write-share", options.write_share, 0, 1);
  if (options.bytes < 16 || options.bytes > 4096 || (options.bytes & (options.bytes - 1)) != 0) {
    throw UserError("--bytes " + std::to_string(options.bytes) +
                    ": needs a power of two from 16 to 4096");
  }
  stream.bytes = static_cast<std::uint32_t>(options.bytes);
  return stream;
}

/// Options that are short for a key of the config exclude --set of that key.
void check_given_once(const DramOptions& options) {
  for (const std::string& setting : options.settings) {
    const std::string key = setting.substr(0, setting.find('='));
    if ((key == "dram.preset" && !options.preset.empty()) ||
        (key == "dram.mapping" && !options.mapping.empty())) {
      throw UserError("--set " + setting + " contradicts --" + key.substr(key.find('.') + 1) +
                      ": give one of them");
    }
  }
}

DramParameters parameters_of(const DramOptions& options, const DramStream& stream) {
  check_given_once(options);
  std::vector<std::string> settings;
  if (!options.preset.empty()) settings.push_back("dram.preset=" + options.preset);
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  DramParameters parameters = dram_parameters(load_config(options.config, settings));
  if (!options.mapping.empty() &&
      !DramMapping::named(options.mapping, &parameters.mapping, &parameters.hash)) {
    parameters.mapping = options.mapping;
  }
  parameters.controller = 0;
  if (stream.bytes % parameters.burst_bytes != 0 && parameters.burst_bytes % stream.bytes != 0) {
    throw UserError("--bytes " + std::to_string(stream.bytes) + ": not whole bursts of " +
                    std::to_string(parameters.burst_bytes) + " B");
  }
  return parameters;
}

/// Name, value as text and as JSON.
struct Line {
  const char* key;
  std::string value, unit;
};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::vector<Line> lines_of(const DramStreamReport& report) {
  const DramCounts& counts = report.counts;
  std::vector<Line> lines{
      {"bandwidth", fixed(report.bytes_per_second * 1e-9, 3), "GB/s"},
      {"of_peak", fixed(100 * report.bytes_per_second / report.peak_bytes_per_second, 2), "%"},
      {"peak", fixed(report.peak_bytes_per_second * 1e-9, 3), "GB/s"},
      {"latency", fixed(report.latency * report.clock, 2), "clocks"},
      {"latency_ns", fixed(report.latency * 1e9, 2), "ns"},
      {"mean_queue", fixed(report.mean_queue, 2), "requests"},
      {"time", fixed(report.seconds * 1e6, 3), "us"},
      {"cycles", fixed(report.seconds * report.clock, 0), "clocks"},
  };
  const auto add = [&](const char* key, std::uint64_t value) {
    lines.push_back({key, std::to_string(value), ""});
  };
  add("row_hits", counts.row_hits);
  add("row_misses", counts.row_misses);
  add("row_conflicts", counts.row_conflicts);
  add("forwarded", counts.forwarded);
  add("activations", counts.activations);
  add("precharges", counts.precharges);
  add("reads", counts.read_bursts);
  add("writes", counts.write_bursts);
  add("turnarounds", counts.turnarounds);
  add("wck_syncs", counts.wck_syncs);
  add("refreshes", counts.refreshes);
  add("bank_refreshes", counts.bank_refreshes);
  return lines;
}

std::string text_of(const std::vector<Line>& lines) {
  std::ostringstream text;
  for (const Line& line : lines) {
    text << std::left << std::setw(16) << line.key << std::right << std::setw(14) << line.value
         << (line.unit.empty() ? "" : " ") << line.unit << "\n";
  }
  return text.str();
}

std::string json_of(const std::vector<Line>& lines, const DramParameters& parameters) {
  std::ostringstream text;
  text << "{\n  \"mapping\": \"" << parameters.mapping << "\",\n  \"hash\": \"" << parameters.hash
       << "\"";
  for (const Line& line : lines) text << ",\n  \"" << line.key << "\": " << line.value;
  text << "\n}\n";
  return text.str();
}

}  // namespace

ExitStatus run_dram(int argc, const char* const* argv) {
  DramOptions options;
  parse_options(argc, argv, describe("Options", rows(), &options), "fmsim dram");
  if (options.help || options.version) {
    std::cout << (options.help ? help_text() : std::string("fmsim ") + version + "\n");
    return ExitStatus::done;
  }
  const DramStream stream = stream_of(options);
  const DramParameters parameters = parameters_of(options, stream);
  check_output(options.output, options.config, "");
  AtomicFile output(options.output);
  const std::vector<Line> lines = lines_of(run_dram_stream(parameters, stream));
  output.stream() << (options.json ? json_of(lines, parameters) : text_of(lines));
  output.commit();
  return ExitStatus::done;
}

}  // namespace fm
