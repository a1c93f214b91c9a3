#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/result.hpp"

namespace fm {
namespace {

using Json = nlohmann::ordered_json;

constexpr int process = 1;

/// A row of bars that do not overlap.
struct Row {
  std::string lane;
  Nanoseconds end;
};

/// The rows of a trace: a lane takes as many as it has bars at once. The usual lanes first, in this
/// order; others as they appear.
class Rows {
 public:
  Rows() {
    for (const char* lane : {"gpu", "copy", "disk", "host"}) rows_.push_back({lane, {}});
  }
  std::size_t place(const TimelineEvent& event) {
    auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& other) {
      return other.lane == event.lane && other.end <= event.start;
    });
    if (row == rows_.end()) row = rows_.insert(rows_.end(), {event.lane, {}});
    row->end = event.end;
    return static_cast<std::size_t>(row - rows_.begin());
  }
  const std::vector<Row>& all() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

Json row_name(std::size_t row, const std::string& name) {
  return {{"ph", "M"},
          {"name", "thread_name"},
          {"pid", process},
          {"tid", row + 1},
          {"args", {{"name", name}}}};
}

Json bar(const TimelineEvent& event, std::size_t row) {
  return {{"ph", "X"},
          {"name", event.name},
          {"pid", process},
          {"tid", row + 1},
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
  std::vector<TimelineEvent> timeline = result.timeline;
  std::stable_sort(timeline.begin(), timeline.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  Rows rows;
  Json bars = Json::array();
  for (const TimelineEvent& event : timeline) bars.push_back(bar(event, rows.place(event)));
  for (std::size_t row = 0; row < rows.all().size(); ++row) {
    events.push_back(row_name(row, rows.all()[row].lane));
  }
  events.insert(events.end(), bars.begin(), bars.end());
  for (const MemorySample& sample : result.memory.over_time) {
    events.push_back(memory_counter(sample));
  }
  append_interval_counters(result, &events);
  const Json json = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fm
