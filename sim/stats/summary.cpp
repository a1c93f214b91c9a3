#include "sim/stats/summary.hpp"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <iomanip>
#include <sstream>

#include "core/capacity_law.hpp"
#include "sim/stats/quantity_text.hpp"
#include "sim/stats/summary_parts.hpp"

namespace fm {
namespace {

using namespace summary;

constexpr std::size_t top_launches = 10;

void write_latency(std::ostringstream* out, const Result& result) {
  const ResultLatency& latency = result.latency;
  const Nanoseconds floor = std::max({result.floor.disk, result.floor.compute, result.floor.dram});
  Section section(out, "Latency");
  section.line("integrated", text_of(latency.integrated), "from nothing to the outputs");
  section.line("  initialization", text_of(latency.init), "until the first launch starts");
  section.line("    of it start-up", text_of(latency.startup), "context and programs");
  section.line("  execution", text_of(latency.exec));
  section.line("floor", text_of(floor), "the largest of");
  section.line("  disk", text_of(result.floor.disk), "all reads at the best bandwidth");
  section.line("  compute", text_of(result.floor.compute), "all arithmetic at peak rate");
  section.line("  DRAM", text_of(result.floor.dram), "all traffic at peak bandwidth");
  if (floor.count() > 0) {
    section.line("integrated over floor",
                 three_digits(nanoseconds(latency.integrated) / nanoseconds(floor)) + " x");
  }
  for (std::size_t i = 0; i < result.repetitions.size(); ++i) {
    const ResultLatency& one = result.repetitions[i];
    section.line("repetition " + std::to_string(i + 1), text_of(one.integrated),
                 "execution " + text_of(one.exec));
  }
  if (result.sampling_mode == "auto") {
    section.line("sampling error", "<= " + percent(result.sampling_error_bound),
                 "of execution; none with --sample full");
  }
}

void write_models(std::ostringstream* out, const Result& result) {
  if (result.models.empty()) return;
  Section section(out, "Models, from nothing to each one's outputs");
  for (const ResultModel& model : result.models) {
    section.line(last_part(model.name, 24), text_of(model.integrated),
                 "starts at " + text_of(model.start) + ", peak " + text_of(model.peak));
  }
}

void write_memory(std::ostringstream* out, const ResultMemory& memory) {
  Section section(out, "Memory, peak of each class");
  const auto line = [&](const char* name, Bytes bytes) {
    if (bytes.count() > 0) section.line(name, text_of(bytes));
  };
  line("preloaded", memory.peak_by_class.preloaded);
  line("um_in_flight", memory.peak_by_class.um_in_flight);
  line("tm_in_flight", memory.peak_by_class.tm_in_flight);
  line("activations", memory.peak_by_class.activations);
  line("staging", memory.peak_by_class.staging);
  line("driver", memory.peak_driver);
  section.line("all, peak", text_of(memory.peak), "average " + text_of(memory.average));
}

void write_bounds(std::ostringstream* out, const Result& result) {
  struct Sum {
    std::size_t launches = 0;
    double time = 0;
  };
  std::map<std::string, Sum> by_bound;
  double total = 0;
  for (const ResultLaunch& launch : result.launches) {
    const double time = nanoseconds(launch.end - launch.start);
    by_bound[launch.bound].launches += 1;
    by_bound[launch.bound].time += time;
    total += time;
  }
  std::vector<std::pair<std::string, Sum>> bounds(by_bound.begin(), by_bound.end());
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  Section section(out, "What bounded the launches");
  for (const auto& [bound, sum] : bounds) {
    section.line(bound, text_of(Nanoseconds(static_cast<std::uint64_t>(sum.time))),
                 percent(sum.time / total) + " of GPU time, " + std::to_string(sum.launches) +
                     (sum.launches == 1 ? " launch" : " launches"));
  }
}

std::string share_of_roof(const ResultRoofline& roofline) {
  if (roofline.attainable_gflops == 0) return "-";
  return percent(roofline.achieved_gflops / roofline.attainable_gflops);
}

void write_top_launches(std::ostringstream* out, const Result& result) {
  std::vector<const ResultLaunch*> launches;
  for (const ResultLaunch& launch : result.launches) launches.push_back(&launch);
  const auto longer = [](const ResultLaunch* a, const ResultLaunch* b) {
    return a->end - a->start > b->end - b->start;
  };
  std::stable_sort(launches.begin(), launches.end(), longer);
  if (launches.empty()) return;
  *out << "\nLongest launches\n  " << std::left << std::setw(8) << "launch" << std::setw(12)
       << "operation" << std::setw(13) << "kernel" << std::right << std::setw(9) << "time"
       << std::setw(8) << "GMAC/s" << std::setw(7) << "roof" << std::setw(9) << "energy"
       << "  bound\n";
  for (std::size_t i = 0; i < std::min(top_launches, launches.size()); ++i) {
    const ResultLaunch& launch = *launches[i];
    const Nanoseconds time = launch.end - launch.start;
    *out << "  " << std::left << std::setw(8) << shortened(launch.id, 7) << std::setw(12)
         << shortened(launch.operation, 11) << std::setw(13) << shortened(launch.kernel, 12)
         << std::right << std::setw(9) << text_of(time) << std::setw(8)
         << mac_rate(launch.macs, time) << std::setw(7) << share_of_roof(launch.roofline)
         << std::setw(9) << joules(launch.energy.total_nj) << "  " << launch.bound << "\n";
  }
}

void write_hit_rates(std::ostringstream* out, const Result& result) {
  Section section(out, "Hit rates of reads");
  for (const auto& [prefix, name] : cache_levels) {
    const double lookups = counter(result, std::string(prefix) + ".read_lookups");
    if (lookups == 0) continue;
    section.line(name, percent(counter(result, std::string(prefix) + ".read_hits") / lookups),
                 "of " + text_with_prefix(lookups, "") + " lines");
  }
  for (const auto& [prefix, name] :
       {std::pair{"tlb", "core TLBs"}, std::pair{"mmu", "shared TLB"}}) {
    const double requests = counter(result, std::string(prefix) + ".requests");
    if (requests == 0) continue;
    section.line(name, percent(counter(result, std::string(prefix) + ".hits") / requests),
                 "of " + text_with_prefix(requests, "") + " translations");
  }
}

void write_peaks(std::ostringstream* out, const Result& result) {
  Section section(out, "Achieved over peak, whole run");
  for (const auto& [unit, share] : result.peaks) {
    if (share > 0) section.line(unit, percent(share));
  }
  if (result.roofline.bound.empty()) return;
  section.line("GFLOP/s", three_digits(result.roofline.achieved_gflops),
               "of " + three_digits(result.roofline.attainable_gflops) + " attainable: roof of " +
                   result.roofline.bound);
}

void write_energy(std::ostringstream* out, const Result& result) {
  if (result.energy.total_nj == 0) return;
  Section section(out, "Energy");
  for (const auto& [component, energy] : result.energy.by_component) {
    if (energy == 0) continue;
    section.line(component, joules(energy));
  }
  section.line("all", joules(result.energy.total_nj),
               "mean power " + text_with_prefix(result.energy.average_power_mw * 1e-3, "W"));
  section.line("  outside of launches", joules(result.energy.outside_launches_nj));
  if (!result.power_over_time.empty()) {
    const auto hottest =
        std::max_element(result.power_over_time.begin(), result.power_over_time.end(),
                         [](const PowerSample& a, const PowerSample& b) {
                           return a.temperature_c < b.temperature_c;
                         });
    const auto slowest = std::min_element(
        result.power_over_time.begin(), result.power_over_time.end(),
        [](const PowerSample& a, const PowerSample& b) { return a.gpu_speed < b.gpu_speed; });
    section.line("highest temperature", three_digits(hottest->temperature_c) + " C",
                 "GPU never below " + percent(slowest->gpu_speed) + " of its clock");
  }
}

void write_checks(std::ostringstream* out, const Result& result, double wall_seconds) {
  std::size_t holding = 0;
  for (const ResultCheck& check : result.checks) holding += check.holds() ? 1 : 0;
  *out << "\nChecks: " << holding << " of " << result.checks.size()
       << " conservation laws hold; drained; simulated in " << three_digits(wall_seconds) << " s\n";
  for (const ResultCheck& check : result.checks) {
    if (check.holds()) continue;
    *out << "  BROKEN  " << shortened(check.law, terminal_columns - 10) << "\n          "
         << std::fixed << std::setprecision(0) << check.left << " != " << check.right << "\n";
  }
}

void write_heading(std::ostringstream* out, const Result& result, const DeviceConfig& config) {
  std::size_t copies = 0;
  for (const ResultLaunch& launch : result.launches) copies += launch.kernel == "copy" ? 1 : 0;
  std::string counts = ": " + std::to_string(result.launches.size() - copies) + " launches";
  if (copies > 0) counts += ", " + std::to_string(copies) + " copies";
  *out << shortened(config.name() + ": " + config.description(), terminal_columns) << "\n"
       << last_part(result.trace_file, terminal_columns - counts.size()) << counts << "\n";
}

}  // namespace

std::string summary_of(const Result& result, const DeviceConfig& config, double wall_seconds) {
  std::ostringstream out;
  write_heading(&out, result, config);
  write_latency(&out, result);
  write_models(&out, result);
  write_memory(&out, result.memory);
  write_bounds(&out, result);
  write_top_launches(&out, result);
  write_hit_rates(&out, result);
  write_peaks(&out, result);
  write_energy(&out, result);
  write_checks(&out, result, wall_seconds);
  return out.str();
}

namespace {

/// What fmsim --capacities scaled moves with a capacity; "" for other values.
std::string moved_with(const std::string& path) {
  for (const CapacityCosts& costs : capacity_costs()) {
    if (costs.capacity == path) return boost::algorithm::join(costs.paths(), ", ");
  }
  return "";
}

}  // namespace

std::string explanation_of(const DeviceConfig& config) {
  std::ostringstream out;
  out << config.name() << ": " << config.description() << "\n";
  if (const auto& preset = config.dram_preset()) {
    out << "DRAM preset " << preset->word << " (" << to_string(preset->source) << ": "
        << preset->citation << ")\n";
  }
  for (const ParameterSchema& parameter : device_config_schema()) {
    const ConfigValue& value = config.values().at(parameter.path);
    out << "\n"
        << parameter.path << " = " << value.text << "\n    " << parameter.description << " ("
        << parameter.range() << ")\n    " << to_string(value.source) << ": " << value.citation
        << "\n    from " << value.origin;
    if (value.where.line > 0) out << ":" << value.where.line;
    out << "\n";
    const std::string moved = moved_with(parameter.path);
    if (!moved.empty()) out << "    a capacity: --capacities scaled moves " << moved << "\n";
  }
  return out.str();
}

}  // namespace fm
