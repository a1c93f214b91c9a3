#include <yaml-cpp/yaml.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/result.hpp"

namespace fm {
namespace {

using Json = nlohmann::ordered_json;

Json from_scalar(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end) return number;
  return text;
}

/// Texts of a config, even where they look like numbers.
bool is_text(const std::string& key) {
  return key == "name" || key == "description" || key == "source" || key == "cite" || key == "from";
}

Json from_yaml(const YAML::Node& node) {
  if (node.IsScalar()) return from_scalar(node.Scalar());
  Json json = node.IsSequence() ? Json::array() : Json::object();
  for (const auto& item : node) {
    if (node.IsSequence()) json.push_back(from_yaml(item));
    if (!node.IsMap()) continue;
    const std::string& key = item.first.Scalar();
    json[key] = is_text(key) && item.second.IsScalar() ? Json(item.second.Scalar())
                                                       : from_yaml(item.second);
  }
  return json;
}

Json memory_by_class(const MemoryClaims& claims, Bytes driver) {
  return {
      {"preloaded", claims.preloaded.count()},       {"um_in_flight", claims.um_in_flight.count()},
      {"tm_in_flight", claims.tm_in_flight.count()}, {"activations", claims.activations.count()},
      {"staging", claims.staging.count()},           {"driver", driver.count()}};
}

Json memory_json(const ResultMemory& memory) {
  Json over_time = Json::array();
  for (const MemorySample& sample : memory.over_time) {
    Json point = {{"time_ns", sample.time.count()}};
    point.update(memory_by_class(sample.claims, sample.driver));
    over_time.push_back(std::move(point));
  }
  Json json = {{"peak_bytes", memory.peak.count()},
               {"average_bytes", memory.average.count()},
               {"by_class", memory_by_class(memory.peak_by_class, memory.peak_driver)},
               {"over_time", std::move(over_time)}};
  if (memory.fragmentation) {
    json["fragmentation"] = {{"padding_bytes", memory.fragmentation->padding.count()},
                             {"free_bytes", memory.fragmentation->free.count()},
                             {"largest_hole_bytes", memory.fragmentation->largest_hole.count()},
                             {"share", memory.fragmentation->share()}};
  }
  return json;
}

Json numbers_by_name(const std::map<std::string, double>& numbers) {
  Json json = Json::object();
  for (const auto& [name, number] : numbers) json[name] = number;
  return json;
}

Json timeline_json(const std::vector<TimelineEvent>& timeline) {
  Json json = Json::array();
  for (const TimelineEvent& event : timeline) {
    json.push_back({{"lane", event.lane},
                    {"name", event.name},
                    {"start_ns", event.start.count()},
                    {"end_ns", event.end.count()}});
  }
  return json;
}

Json energy_json(const ResultEnergy& energy) {
  return {{"total_nj", energy.total_nj},
          {"average_power_mw", energy.average_power_mw},
          {"by_component", numbers_by_name(energy.by_component)}};
}

Json roofline_json(const ResultRoofline& roofline) {
  return {{"flops", roofline.flops},
          {"intensity", numbers_by_name(roofline.intensity)},
          {"achieved_gflops", roofline.achieved_gflops},
          {"attainable_gflops", roofline.attainable_gflops},
          {"bound", roofline.bound}};
}

Json power_json(const std::vector<PowerSample>& samples) {
  Json json = Json::array();
  for (const PowerSample& sample : samples) {
    json.push_back({{"time_ns", sample.time.count()},
                    {"gpu_speed", sample.gpu_speed},
                    {"dram_speed", sample.dram_speed},
                    {"cpu_speed", sample.cpu_speed},
                    {"power_mw", sample.power_mw},
                    {"temperature_c", sample.temperature_c}});
  }
  return json;
}

/// What only a simulation knows of a launch.
void add_simulated(Json* json, const ResultLaunch& launch) {
  if (!launch.peaks.empty()) (*json)["peaks"] = numbers_by_name(launch.peaks);
  if (!launch.roofline.bound.empty()) (*json)["roofline"] = roofline_json(launch.roofline);
  if (!launch.energy.by_component.empty()) (*json)["energy"] = energy_json(launch.energy);
  if (launch.clock_mhz > 0) (*json)["clock_mhz"] = launch.clock_mhz;
}

Json launches_json(const std::vector<ResultLaunch>& launches) {
  Json json = Json::array();
  for (const ResultLaunch& launch : launches) {
    json.push_back({{"id", launch.id},
                    {"kernel", launch.kernel},
                    {"operation", launch.operation},
                    {"start_ns", launch.start.count()},
                    {"end_ns", launch.end.count()},
                    {"bound", launch.bound},
                    {"macs", launch.macs},
                    {"weight_bytes", launch.weight_bytes.count()},
                    {"stalls", numbers_by_name(launch.stalls)},
                    {"counters", numbers_by_name(launch.counters)}});
    if (!launch.model.empty()) json.back()["model"] = launch.model;
    add_simulated(&json.back(), launch);
    if (launch.occupancy_limit.empty()) continue;
    json.back()["occupancy"] = {{"waves", launch.resident_waves},
                                {"limit", launch.occupancy_limit}};
  }
  return json;
}

Json models_json(const std::vector<ResultModel>& models) {
  Json json = Json::array();
  for (const ResultModel& model : models) {
    json.push_back({{"name", model.name},
                    {"start_ns", model.start.count()},
                    {"end_ns", model.end.count()},
                    {"integrated_ns", model.integrated.count()},
                    {"peak_bytes", model.peak.count()}});
  }
  return json;
}

Json latency_json(const ResultLatency& latency) {
  return {{"integrated_ns", latency.integrated.count()},
          {"startup_ns", latency.startup.count()},
          {"init_ns", latency.init.count()},
          {"exec_ns", latency.exec.count()}};
}

Json counters_json(const std::map<std::string, ResultCounter>& counters) {
  Json json = Json::object();
  for (const auto& [name, counter] : counters) {
    json[name] = {
        {"value", counter.value}, {"unit", counter.unit}, {"description", counter.description}};
  }
  return json;
}

Json histograms_json(const std::vector<ResultHistogram>& histograms) {
  Json json = Json::array();
  for (const ResultHistogram& histogram : histograms) {
    json.push_back({{"name", histogram.name},
                    {"client", histogram.client},
                    {"unit", histogram.unit},
                    {"description", histogram.description},
                    {"bounds", histogram.bounds},
                    {"counts", histogram.counts}});
  }
  return json;
}

Json intervals_json(const ResultIntervals& intervals) {
  Json ends = Json::array();
  for (const Nanoseconds end : intervals.ends) ends.push_back(end.count());
  Json counters = Json::object();
  for (const auto& [name, movements] : intervals.counters) counters[name] = movements;
  return {{"length_ns", intervals.length.count()},
          {"end_ns", std::move(ends)},
          {"counters", std::move(counters)}};
}

Json checks_json(const std::vector<ResultCheck>& checks) {
  Json json = Json::array();
  for (const ResultCheck& check : checks) {
    json.push_back({{"law", check.law},
                    {"left", check.left},
                    {"right", check.right},
                    {"holds", check.holds()}});
  }
  return json;
}

}  // namespace

std::string to_json(const Result& result) {
  Json json;
  json["schema_version"] = result_schema_version;
  json["tool"] = result.tool;
  json["config"] = from_yaml(YAML::Load(result.config_yaml));
  json["trace"] = {{"file", result.trace_file}, {"digest", result.trace_digest}};
  json["sampling"] = {{"mode", result.sampling_mode}, {"error_bound", result.sampling_error_bound}};
  json["perfect"] = result.perfect;
  json["latency"] = latency_json(result.latency);
  for (const ResultLatency& latency : result.repetitions) {
    json["repetitions"].push_back(latency_json(latency));
  }
  json["floor"] = {{"disk_ns", result.floor.disk.count()},
                   {"compute_ns", result.floor.compute.count()},
                   {"dram_ns", result.floor.dram.count()}};
  json["memory"] = memory_json(result.memory);
  json["timeline"] = timeline_json(result.timeline);
  json["peaks"] = numbers_by_name(result.peaks);
  if (!result.roofline.bound.empty()) json["roofline"] = roofline_json(result.roofline);
  json["energy"] = energy_json(result.energy);
  json["energy"]["outside_launches_nj"] = result.energy.outside_launches_nj;
  if (!result.power_over_time.empty()) json["power_over_time"] = power_json(result.power_over_time);
  json["launches"] = launches_json(result.launches);
  if (!result.models.empty()) json["models"] = models_json(result.models);
  json["counters"] = counters_json(result.counters);
  json["latency_histograms"] = histograms_json(result.latency_histograms);
  if (result.intervals.length.count() > 0) json["intervals"] = intervals_json(result.intervals);
  json["checks"] = checks_json(result.checks);
  // Names may come from a model file: bytes that are not UTF-8 are replaced, not thrown at.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fm
