#pragma once
// What `fmsim replay` was asked for. An option is a member here and a row in replay_options.cpp.

#include <string>
#include <vector>

namespace fm {

struct ReplayOptions {
  std::string config, trace;
  std::vector<std::string> settings;
  bool json = false;
  std::string output = "-";
  bool summary = false;
  std::string chrome_trace;
  std::string sample = "full";
  std::vector<std::string> perfect;
  std::string dump_requests;  ///< PORT=FILE
  std::string launches;
  bool warm = false;
  std::uint64_t repeat = 1;
  bool explain = false, help = false, version = false;
};

/// Throws UserError: unknown options, odd values, options that contradict each other.
ReplayOptions parse_replay_options(int argc, const char* const* argv);

/// The text of --help.
std::string replay_help();

}  // namespace fm
