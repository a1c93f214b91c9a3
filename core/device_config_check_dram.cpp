// Contradictions between DRAM parameters.
#include <cmath>

#include "core/device_config_rules.hpp"

namespace fm {
namespace {

void check_geometry(const ConfigRules& rules) {
  for (const char* path : {"dram.row_size", "dram.interleave", "dram.banks"}) {
    rules.power_of_two(path);
  }
  rules.multiple("dram.banks", "dram.bank_groups", "every group has as many banks");
  const double burst =
      rules.number("dram.channel_width_bits") / 8 * rules.number("dram.burst_length");
  for (const char* path : {"dram.row_size", "dram.interleave", "l2.line", "slc.line"}) {
    rules.require(std::fmod(rules.number(path), burst) == 0, path,
                  {"dram.channel_width_bits", "dram.burst_length"},
                  "it is not a whole number of bursts",
                  "make it a multiple of " + std::to_string(static_cast<long long>(burst)) + " B");
  }
  rules.at_most("slc.line", "dram.interleave", "a line must lie in one channel");
  rules.at_most("slc.line", "dram.row_size", "a line must lie in one row");
}

void check_timing(const ConfigRules& rules) {
  rules.at_most("dram.tRCD", "dram.tRAS", "a row would close before its first column command");
  rules.at_most("dram.tRRD", "dram.tFAW", "four activations take longer than their window");
  rules.require(rules.number("dram.tRFC") < rules.number("dram.tREFI"), "dram.tRFC", {"dram.tREFI"},
                "refresh would take all the time", "refresh must end before the next is due");
  // In picoseconds; datasheets round tCCD_L to 10 ps.
  const double burst = rules.number("dram.burst_length") / rules.number("dram.data_rate") * 1e12;
  rules.require(rules.number("dram.tCCD_L") >= burst - 10, "dram.tCCD_L",
                {"dram.burst_length", "dram.data_rate"}, "a burst holds the data pins for longer",
                "at least " + std::to_string(std::llround(burst)) + " ps");
}

}  // namespace

void check_dram_rules(const ConfigRules& rules) {
  check_geometry(rules);
  check_timing(rules);
}

}  // namespace fm
