#include "sim/stats/summary_wide.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "sim/stats/lane_columns.hpp"
#include "sim/stats/summary_parts.hpp"

namespace fm {
namespace {

using namespace summary;

constexpr std::size_t most_columns = 60;

template <class Value, class Less>
std::vector<std::pair<std::string, Value>> sorted_by(const std::map<std::string, Value>& values,
                                                     const Less& before) {
  std::vector<std::pair<std::string, Value>> rows(values.begin(), values.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return before(a.second, b.second); });
  return rows;
}

/// The parts of a phone that a plan keeps busy, whether they did anything or not, then what else
/// the timeline has.
std::vector<std::string> lanes_of(const std::vector<TimelineEvent>& timeline) {
  std::vector<std::string> lanes{"disk", "copy", "gpu", "host"};
  std::set<std::string> others;
  for (const TimelineEvent& event : timeline) others.insert(event.lane);
  for (const std::string& lane : lanes) others.erase(lane);
  lanes.insert(lanes.end(), others.begin(), others.end());
  return lanes;
}

void write_lanes(std::ostringstream* out, const Result& result) {
  const TimeColumns columns(end_of(result), most_columns);
  if (columns.count == 0) return;
  *out << "\nLanes over time, a column is " << text_of(columns.width) << "\n";
  const auto row = [&](const std::string& name, const std::string& cells, const std::string& note) {
    *out << "  " << std::left << std::setw(7) << shortened(name, 7) << "|" << cells << "|"
         << std::right << std::setw(9) << note << "\n";
  };
  for (const std::string& lane : lanes_of(result.timeline)) {
    const std::vector<Nanoseconds> busy = busy_times(result.timeline, lane, columns);
    Nanoseconds whole;
    for (const Nanoseconds time : busy) whole += time;
    row(lane, busy_row(busy, columns), percent(nanoseconds(whole) / nanoseconds(columns.end)));
  }
  const ResultMemory& memory = result.memory;
  row("memory", memory_row(most_resident(memory.over_time, columns), memory.peak),
      text_of(memory.peak));
  *out << "  busy . less than 1/3 of a column, : less than 2/3, # more; right: of the run\n"
       << "  memory at most, in tenths of its peak, which is # and on the right\n";
}

struct KernelSum {
  std::size_t launches = 0;
  Nanoseconds time;
  std::uint64_t macs = 0;
  double nanojoules = 0;
  std::map<std::string, std::size_t> bounds;
};

/// Of what bounded most launches; "-" where it is not known.
std::string most_frequent(const std::map<std::string, std::size_t>& bounds) {
  const auto most =
      std::max_element(bounds.begin(), bounds.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first.empty() ? "-" : most->first;
}

void write_kernels(std::ostringstream* out, const Result& result) {
  std::map<std::string, KernelSum> kernels;
  Nanoseconds whole;
  for (const ResultLaunch& launch : result.launches) {
    KernelSum& sum = kernels[launch.kernel];
    const Nanoseconds time = launch.end - launch.start;
    sum.launches += 1;
    sum.time += time;
    sum.macs += launch.macs;
    sum.nanojoules += launch.energy.total_nj;
    sum.bounds[launch.bound] += 1;
    whole += time;
  }
  if (whole.count() == 0) return;
  *out << "\nKernels\n  " << std::left << std::setw(22) << "kernel" << std::right << std::setw(8)
       << "launches" << std::setw(10) << "time" << std::setw(9) << "GPU time" << std::setw(8)
       << "GMAC/s" << std::setw(9) << "energy"
       << "  bound\n";
  const auto longer = [](const KernelSum& a, const KernelSum& b) { return a.time > b.time; };
  for (const auto& [kernel, sum] : sorted_by(kernels, longer)) {
    *out << "  " << std::left << std::setw(22) << shortened(kernel, 21) << std::right
         << std::setw(8) << sum.launches << std::setw(10) << text_of(sum.time) << std::setw(9)
         << percent(nanoseconds(sum.time) / nanoseconds(whole)) << std::setw(8)
         << mac_rate(sum.macs, sum.time) << std::setw(9) << joules(sum.nanojoules) << "  "
         << most_frequent(sum.bounds) << "\n";
  }
}

/// Of one level of the memory hierarchy, over the run.
struct LevelRow {
  std::string name;
  std::optional<Bytes> size;
  double reads = 0, hits = 0, lookups = 0;    ///< lookups: of which hits are a share
  std::optional<Bytes> fetched{}, written{};  ///< from and to the level below, if it has one
};

std::optional<Bytes> moved(const Result& result, const std::string& name, Bytes each) {
  if (result.counters.count(name) == 0) return std::nullopt;
  return each * static_cast<std::uint64_t>(counter(result, name));
}

LevelRow cache_row(const CacheLevelName& level, const Result& result, const DeviceConfig& config) {
  const std::string prefix = std::string(level.prefix) + ".";
  const bool first_level = config.values().count(prefix + "cache_size") != 0;
  const Bytes line = config.bytes(prefix + "line");
  LevelRow row{level.name, config.bytes(prefix + (first_level ? "cache_size" : "size"))};
  row.reads = row.lookups = counter(result, prefix + "read_lookups");
  row.hits = counter(result, prefix + "read_hits");
  row.fetched = moved(result, prefix + "fetches", line);
  row.written = moved(result, prefix + "writes_below", line);
  return row;
}

LevelRow dram_row(const Result& result) {
  LevelRow row{"DRAM (hits: of rows)", std::nullopt};
  row.reads = counter(result, "dram.read_bursts");
  row.hits = counter(result, "dram.row_hits");
  row.lookups =
      row.hits + counter(result, "dram.row_misses") + counter(result, "dram.row_conflicts");
  return row;
}

std::vector<LevelRow> level_rows(const Result& result, const DeviceConfig& config) {
  std::vector<LevelRow> rows;
  for (const CacheLevelName& level : cache_levels) {
    LevelRow row = cache_row(level, result, config);
    if (row.size->count() > 0) rows.push_back(std::move(row));
  }
  // A line of the last cache may take several bursts, or a part of one.
  const Bytes burst = dram_burst(config);
  rows.back().fetched = moved(result, "dram.read_bursts", burst);
  rows.back().written = moved(result, "dram.write_bursts", burst);
  rows.push_back(dram_row(result));
  return rows;
}

void write_hierarchy(std::ostringstream* out, const Result& result, const DeviceConfig& config) {
  const auto text = [](const std::optional<Bytes>& bytes) { return bytes ? text_of(*bytes) : "-"; };
  *out << "\nMemory hierarchy, reads and bytes from and to the level below\n  " << std::left
       << std::setw(22) << "level" << std::right << std::setw(10) << "size" << std::setw(9)
       << "reads" << std::setw(9) << "hits" << std::setw(12) << "fetched" << std::setw(12)
       << "written"
       << "\n";
  for (const LevelRow& row : level_rows(result, config)) {
    *out << "  " << std::left << std::setw(22) << row.name << std::right << std::setw(10)
         << text(row.size) << std::setw(9) << text_with_prefix(row.reads, "") << std::setw(9)
         << (row.lookups > 0 ? percent(row.hits / row.lookups) : "-") << std::setw(12)
         << text(row.fetched) << std::setw(12) << text(row.written) << "\n";
  }
}

void write_stalls(std::ostringstream* out, const Result& result) {
  std::map<std::string, double> cycles;
  double whole = 0;
  for (const ResultLaunch& launch : result.launches) {
    const double mine = nanoseconds(launch.end - launch.start) * launch.clock_mhz;
    if (launch.stalls.empty()) continue;
    for (const auto& [cause, share] : launch.stalls) cycles[cause] += share * mine;
    whole += mine;
  }
  if (whole == 0) return;
  Section section(out, "Issue slots of all launches, by what they went to");
  const auto more = [](double a, double b) { return a > b; };
  for (const auto& [cause, sum] : sorted_by(cycles, more)) {
    if (sum > 0) section.line(cause, percent(sum / whole));
  }
}

}  // namespace

std::string wide_summary_of(const Result& result, const DeviceConfig& config) {
  std::ostringstream out;
  write_lanes(&out, result);
  write_kernels(&out, result);
  write_hierarchy(&out, result, config);
  write_stalls(&out, result);
  return out.str();
}

}  // namespace fm
