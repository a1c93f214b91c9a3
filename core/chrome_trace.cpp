#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/result.hpp"

namespace fm {
namespace {

using Json = nlohmann::ordered_json;

constexpr int process = 1;

/// The usual lanes first, in this order; others as they appear.
std::vector<std::string> lanes_of(const Result& result) {
  std::vector<std::string> lanes{"gpu", "copy", "disk", "host"};
  for (const TimelineEvent& event : result.timeline) {
    if (std::find(lanes.begin(), lanes.end(), event.lane) == lanes.end()) {
      lanes.push_back(event.lane);
    }
  }
  return lanes;
}

double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

Json lane_name(std::size_t lane, const std::string& name) {
  return {{"ph", "M"},
          {"name", "thread_name"},
          {"pid", process},
          {"tid", lane + 1},
          {"args", {{"name", name}}}};
}

Json bar(const TimelineEvent& event, std::size_t lane) {
  return {{"ph", "X"},
          {"name", event.name},
          {"pid", process},
          {"tid", lane + 1},
          {"ts", microseconds(event.start)},
          {"dur", microseconds(event.end - event.start)}};
}

Json memory_counter(const MemorySample& sample) {
  const MemoryClaims& claims = sample.claims;
  return {{"ph", "C"},
          {"name", "memory (bytes)"},
          {"pid", process},
          {"ts", microseconds(sample.time)},
          {"args",
           {{"preloaded", claims.preloaded.count()},
            {"um_in_flight", claims.um_in_flight.count()},
            {"tm_in_flight", claims.tm_in_flight.count()},
            {"activations", claims.activations.count()},
            {"staging", claims.staging.count()},
            {"driver", sample.driver.count()}}}};
}

/// A track a counter: what it moved by from one interval's start to its end.
void append_interval_counters(const Result& result, Json* events) {
  for (const auto& [name, movements] : result.intervals.counters) {
    const auto counter = result.counters.find(name);
    const std::string unit = counter == result.counters.end() ? "" : counter->second.unit;
    for (std::size_t i = 0; i < movements.size(); ++i) {
      const Nanoseconds start = i == 0 ? Nanoseconds(0) : result.intervals.ends[i - 1];
      events->push_back({{"ph", "C"},
                         {"name", name},
                         {"pid", process},
                         {"ts", microseconds(start)},
                         {"args", {{unit, movements[i]}}}});
    }
  }
}

}  // namespace

std::string to_chrome_trace(const Result& result) {
  Json events = Json::array();
  events.push_back(
      {{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", result.tool}}}});
  const std::vector<std::string> lanes = lanes_of(result);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    events.push_back(lane_name(lane, lanes[lane]));
  }
  for (const TimelineEvent& event : result.timeline) {
    const auto lane = std::find(lanes.begin(), lanes.end(), event.lane) - lanes.begin();
    events.push_back(bar(event, static_cast<std::size_t>(lane)));
  }
  for (const MemorySample& sample : result.memory.over_time) {
    events.push_back(memory_counter(sample));
  }
  append_interval_counters(result, &events);
  const Json json = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fm
