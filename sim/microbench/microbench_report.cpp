#include "sim/microbench/microbench_report.hpp"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/microbench/latency_levels.hpp"
#include "sim/stats/quantity_text.hpp"

namespace fm {
namespace {

using Json = nlohmann::ordered_json;

bool is_chase(const MicrobenchCurve& curve) {
  return curve.unit == "ns/hop" && !curve.points.empty() &&
         curve.points.front().axes.front().first == "footprint";
}

/// Exact: 1040 B must not read as 1.02 KiB.
std::string exact(std::int64_t bytes) {
  constexpr std::int64_t kib = 1024, mib = 1024 * kib;
  if (bytes % mib == 0) return std::to_string(bytes / mib) + " MiB";
  if (bytes % kib == 0) return std::to_string(bytes / kib) + " KiB";
  return std::to_string(bytes) + " B";
}

std::string fixed(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(value < 10 ? 2 : 1) << value;
  return text.str();
}

void append_levels(const LatencyLevels& levels, std::ostream& out) {
  out << "  stride " << levels.stride << " B\n";
  for (const LatencyRun& run : levels.runs) {
    const std::string range =
        run.first == run.last ? exact(run.first) : exact(run.first) + " to " + exact(run.last);
    out << "  " << std::setw(30) << range << std::setw(10) << fixed(run.nanoseconds) << " ns\n";
  }
  for (const LatencyKnee& knee : levels.knees) {
    out << "    knee at " << exact(knee.capacity);
    if (knee.line) out << ", line " << *knee.line << " B";
    if (knee.sets) out << ", " << *knee.sets << " sets";
    if (knee.ways) out << ", " << *knee.ways << " ways";
    out << "\n";
  }
}

Json json_of(const LatencyLevels& levels) {
  Json json;
  json["stride"] = levels.stride;
  json["plateaus"] = Json::array();
  for (const LatencyRun& run : levels.plateaus) {
    json["plateaus"].push_back(
        {{"first", run.first}, {"last", run.last}, {"nanoseconds", run.nanoseconds}});
  }
  json["knees"] = Json::array();
  for (const LatencyKnee& knee : levels.knees) {
    Json item{{"capacity", knee.capacity}};
    if (knee.line) item["line"] = *knee.line;
    if (knee.sets) item["sets"] = *knee.sets;
    if (knee.ways) item["ways"] = *knee.ways;
    json["knees"].push_back(item);
  }
  return json;
}

}  // namespace

std::string text_of(const MicrobenchCurve& curve) {
  std::ostringstream out;
  out << curve.name << ", " << curve.unit << (curve.unit == "B/ns" ? " (GB/s)" : "") << "\n";
  if (is_chase(curve)) {
    for (const LatencyLevels& levels : latency_levels(curve)) append_levels(levels, out);
    return out.str();
  }
  for (const MicrobenchPoint& point : curve.points) {
    std::string axes;
    for (const auto& [name, value] : point.axes) {
      const bool is_bytes = name == "footprint" || name == "request" || name == "bytes";
      axes += name + " " + (is_bytes ? exact(value) : std::to_string(value)) + "  ";
    }
    out << "  " << std::left << std::setw(42) << axes << std::right << std::setw(12)
        << fixed(point.value) << "\n";
  }
  return out.str();
}

std::string microbench_json(const DeviceConfig& config,
                            const std::vector<MicrobenchCurve>& curves) {
  Json json;
  json["config"] = config.name();
  json["clock_hz"] = config.hertz("gpu.clock");
  json["cores"] = config.count("gpu.cores");
  json["curves"] = Json::object();
  for (const MicrobenchCurve& curve : curves) {
    Json& out = json["curves"][curve.name];
    out["unit"] = curve.unit;
    out["points"] = Json::array();
    for (const MicrobenchPoint& point : curve.points) {
      Json axes = Json::object();
      for (const auto& [name, value] : point.axes) axes[name] = value;
      out["points"].push_back({{"axes", axes}, {"value", point.value}});
    }
    if (!is_chase(curve)) continue;
    out["levels"] = Json::array();
    for (const LatencyLevels& levels : latency_levels(curve)) {
      out["levels"].push_back(json_of(levels));
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fm
