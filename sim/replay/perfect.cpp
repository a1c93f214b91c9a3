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

/// Column commands to open rows remain, so many times as fast: data after the same time as ever,
/// its bus free nearly at once.
constexpr std::uint32_t perfect_dram_speed = 64;

DramParameters perfect_dram(DramParameters dram) {
  dram.clock *= perfect_dram_speed;
  dram.starvation *= perfect_dram_speed;
  const DramTiming real = dram.timing;
  DramTiming& timing = dram.timing;
  timing = {};
  timing.cl = real.cl * perfect_dram_speed;
  timing.cwl = real.cwl * perfect_dram_speed;
  timing.burst = timing.ccd_s = timing.ccd_l = 1;
  timing.rcd = timing.rp = timing.rp_all = timing.ras = timing.rc = 0;
  timing.rrd_s = timing.rrd_l = timing.faw = timing.rtp = timing.wr = 0;
  timing.wtr_s = timing.wtr_l = timing.turnaround = timing.ppd = 0;
  dram.page_policy = DramPagePolicy::open;
  dram.refresh = DramRefresh::none;
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
