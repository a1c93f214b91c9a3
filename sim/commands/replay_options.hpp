#pragma once
// What `fmsim replay` was asked for. An option is a member here and a row in replay_options.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/commands/option_table.hpp"

namespace fm {

struct ReplayOptions {
  std::vector<std::string> configs, traces;
  std::uint64_t jobs = 1;     ///< simulations side by side
  std::string config, trace;  ///< the first of them: of the one run, unless there are several
  std::vector<std::string> settings;
  std::string capacities = "iso-latency";  ///< or "scaled"
  std::string against;                     ///< a config to compare with; empty: none
  std::string assumed_within;              ///< "25 %"; empty: assumed numbers stay
  bool json = false;
  std::string output = "-";
  std::string summary;  ///< "brief" or "wide"; empty: brief, and none beside --json
  std::string chrome_trace;
  std::string sample = "full";
  std::vector<std::string> perfect;
  std::string dump_requests;  ///< PORT=FILE
  std::string interval;       ///< "10us"; empty: none
  std::string launches;
  bool warm = false;
  std::uint64_t repeat = 1;
  bool explain = false, help = false, version = false;
  std::vector<GivenOption> given;  ///< as written

  bool scales_capacities() const { return capacities == "scaled"; }
  bool several() const { return configs.size() * traces.size() > 1; }
};

/// Throws UserError: unknown options, odd values, options that contradict each other.
ReplayOptions parse_replay_options(int argc, const char* const* argv);

/// The text of --help.
std::string replay_help();

}  // namespace fm
