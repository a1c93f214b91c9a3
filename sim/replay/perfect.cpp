#include "sim/replay/perfect.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"
#include "sim/memory/memory_parameters.hpp"

namespace fm {
namespace {

const std::vector<std::pair<std::string, PerfectPart>>& parts_by_word() {
  static const std::vector<std::pair<std::string, PerfectPart>> parts = {
      {"l2", PerfectPart::l2},
      {"dram", PerfectPart::dram},
      {"texture", PerfectPart::texture},
      {"disk", PerfectPart::disk},
      {"launch", PerfectPart::launch}};
  return parts;
}

/// Column commands to open rows remain: data after tCL, its bus free at once.
DramParameters perfect_dram(DramParameters dram) {
  dram.burst = dram.t_ccd_l = 1;
  dram.t_rcd = dram.t_rp = dram.t_ras = dram.t_rrd = dram.t_faw = 0;
  dram.t_wr = dram.t_rtp = dram.t_wtr = dram.t_rtw = 0;
  dram.t_rfc = 0;
  return dram;
}

}  // namespace

std::set<PerfectPart> parse_perfect(const std::vector<std::string>& words) {
  std::set<PerfectPart> parts;
  for (const std::string& word : words) {
    const auto& known = parts_by_word();
    const auto named = std::find_if(known.begin(), known.end(),
                                    [&word](const auto& entry) { return entry.first == word; });
    if (named == known.end()) {
      std::vector<std::string> accepted;
      for (const auto& entry : known) accepted.push_back(entry.first);
      throw UserError("--perfect " + word + ": " + accepted_words(word, accepted));
    }
    parts.insert(named->second);
  }
  return parts;
}

std::string to_string(PerfectPart part) {
  for (const auto& [word, known] : parts_by_word()) {
    if (known == part) return word;
  }
  return "?";
}

DeviceConfig with_perfect(DeviceConfig config, const std::set<PerfectPart>& parts) {
  if (parts.count(PerfectPart::disk) != 0) {
    config.set("storage.command_latency", "0 ns");
    config.set("storage.read_bandwidth", "[[4 KiB, 1000000 GB/s]]");
  }
  if (parts.count(PerfectPart::launch) != 0) {
    config.set("host.launch_overhead", "0 ns");
    config.set("host.enqueue_overhead", "0 ns");
  }
  return config;
}

MemoryParameters with_perfect(MemoryParameters parameters, const std::set<PerfectPart>& parts) {
  if (parts.count(PerfectPart::l2) != 0) parameters.l2.perfect = true;
  if (parts.count(PerfectPart::dram) != 0) parameters.dram = perfect_dram(parameters.dram);
  return parameters;
}

}  // namespace fm
