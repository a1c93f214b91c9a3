// Contradictions between DRAM parameters.
#include <cmath>

#include "core/device_config_rules.hpp"

namespace fm {
namespace {

void check_geometry(const ConfigRules& rules) {
  for (const char* path :
       {"dram.row_size", "dram.interleave", "dram.banks", "dram.bank_groups", "dram.rows"}) {
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
  rules.at_most("dram.write_low", "dram.write_high", "writes would stop before they begin");
  rules.at_most("slc.line", "dram.interleave", "a line must lie in one channel");
  rules.at_most("slc.line", "dram.row_size", "a line must lie in one row");
}

void check_timing(const ConfigRules& rules) {
  rules.at_most("dram.tRCD", "dram.tRAS", "a row would close before its first column command");
  rules.at_most("dram.tRP", "dram.tRPab", "closing all banks takes no less than closing one");
  rules.at_most("dram.tRRD_S", "dram.tRRD_L", "banks of one group are no quicker than others");
  rules.at_most("dram.tRRD_S", "dram.tFAW",
                "the second activation would lie past the window of four");
  rules.at_most("dram.tCCD_S", "dram.tCCD_L", "banks of one group are no quicker than others");
  rules.at_most("dram.tWTR_S", "dram.tWTR_L", "banks of one group are no quicker than others");
  rules.multiple("dram.burst_length", "dram.transfers_per_clock",
                 "a burst takes whole command clocks");
  const double moved = rules.number("dram.tCCD_S") * rules.number("dram.transfers_per_clock");
  rules.require(moved >= rules.number("dram.burst_length"), "dram.tCCD_S",
                {"dram.transfers_per_clock", "dram.burst_length"},
                "a burst holds the data pins for longer",
                "raise dram.tCCD_S until a burst fits between two commands");
}

void check_refresh(const ConfigRules& rules) {
  rules.require(rules.number("dram.tRFCab") < rules.number("dram.tREFI"), "dram.tRFCab",
                {"dram.tREFI"}, "refresh would take all the time",
                "refresh must end before the next is due");
  const double sets = rules.number("dram.refresh_sets");
  rules.require(rules.word("dram.refresh") != "per_bank" || sets != 0, "dram.refresh",
                {"dram.refresh_sets"}, "the part has no per-bank refresh", "refresh all banks");
  if (sets == 0) return;
  rules.multiple("dram.banks", "dram.refresh_sets", "every set has as many banks");
  rules.require(rules.number("dram.tRFCpb") * sets <= rules.number("dram.tREFI"), "dram.tRFCpb",
                {"dram.refresh_sets", "dram.tREFI"}, "refreshes would overlap",
                "all sets must be refreshed within dram.tREFI");
}

}  // namespace

void check_dram_rules(const ConfigRules& rules) {
  check_geometry(rules);
  check_timing(rules);
  check_refresh(rules);
}

}  // namespace fm
