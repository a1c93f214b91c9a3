#include "planner/overlap/timed_problem_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/device_config.hpp"

namespace fm {
namespace {

constexpr std::uint64_t format_version = 1;
/// Sums over any network stay far from overflow.
constexpr double longest_time = 3600e9;                       // nanoseconds
constexpr double largest_size = 1024.0 * 1024 * 1024 * 1024;  // bytes
constexpr std::uint64_t most_ahead = 1000;

using Positions = std::map<std::string, std::size_t>;

double quantity(const YamlValue& value, QuantityKind kind) {
  return parse_quantity(value.text(), kind, value.where());
}

Nanoseconds read_time(const YamlValue& value) {
  const double time = quantity(value, QuantityKind::time) * 1e-3;
  if (!(time >= 0 && time <= longest_time)) value.fail("needs a time between 0 s and 3600 s");
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(time)));
}

Bytes read_size(const YamlValue& value, std::uint64_t least = 0) {
  const Bytes bytes = value.bytes();
  if (bytes < Bytes(least)) value.fail("must be above 0 B");
  if (static_cast<double>(bytes.count()) > largest_size) value.fail("must be at most 1024 GiB");
  return bytes;
}

double read_nanoseconds_per_byte(const YamlValue& value) {
  const double rate = quantity(value, QuantityKind::bandwidth);
  if (!(rate >= 1e3 && rate <= 1e15)) value.fail("needs a bandwidth from 1 kB/s to 1000000 GB/s");
  return 1e9 / rate;
}

bool read_flag(const YamlValue& value) {
  const std::string word = value.text();
  if (word != "true" && word != "false") value.fail("must be true or false");
  return word == "true";
}

SlowdownCurve read_slowdown(const YamlValue& value) {
  SlowdownCurve curve;
  for (const YamlValue& item : value.sequence()) {
    const std::vector<YamlValue> pair = item.sequence();
    if (pair.size() != 2) item.fail("needs points of bytes and extra time: [512 KiB, 20 us]");
    curve.push_back({read_size(pair[0], 1), read_time(pair[1])});
    if (!is_convex(curve)) item.fail("must rise, and rise no slower than before: a convex curve");
  }
  return curve;
}

TimedLaunch read_launch(YamlMap* map) {
  TimedLaunch launch;
  launch.time = read_time(map->required("time"));
  launch.running = read_size(map->required("memory"));
  launch.waiting = launch.running;
  if (const YamlValue* waiting = map->optional("waiting")) launch.waiting = read_size(*waiting);
  if (const YamlValue* curve = map->optional("slowdown")) launch.slowdown = read_slowdown(*curve);
  return launch;
}

std::size_t launch_named(const YamlValue& value, const Positions& launches) {
  const auto found = launches.find(value.text());
  if (found == launches.end()) {
    value.fail("'" + value.text() + "' is not in `launches`");
  }
  return found->second;
}

WeightForm read_form(const YamlValue& value) {
  const std::string word = value.text();
  if (word != "image" && word != "buffer") {
    value.fail("unknown form: " + accepted_words(word, {"image", "buffer"}));
  }
  return word == "image" ? WeightForm::image : WeightForm::buffer;
}

TimedWeight read_weight(YamlMap* map, const Positions& launches, bool whole_claims) {
  TimedWeight weight;
  weight.bytes = read_size(map->required("bytes"), 1);
  weight.read = read_time(map->required("read"));
  weight.first_use = launch_named(map->required("first_use"), launches);
  weight.last_use = weight.first_use;
  if (const YamlValue* last = map->optional("last_use")) {
    weight.last_use = last->text() == "never" ? launches.size() : launch_named(*last, launches);
    if (weight.last_use < weight.first_use) last->fail("is before the first use");
  }
  if (const YamlValue* form = map->optional("form")) weight.form = read_form(*form);
  if (const YamlValue* made = map->optional("new_memory")) {
    if (!whole_claims) made->fail("has a meaning with `whole_claims` only");
    weight.new_memory = read_flag(*made);
  }
  return weight;
}

void read_copy(const YamlValue& value, TimedProblem* problem) {
  YamlMap map = value.map();
  problem->copy.base = read_time(map.required("base"));
  problem->copy.nanoseconds_per_byte = read_nanoseconds_per_byte(map.required("bandwidth"));
  map.reject_unknown();
}

void read_whole_claims(const YamlValue& value, TimedProblem* problem) {
  YamlMap map = value.map();
  problem->whole_claims = true;
  problem->ring = read_size(map.required("ring"), 1);
  problem->ahead = static_cast<std::size_t>(map.required("ahead").unsigned_integer(0, most_ahead));
  if (const YamlValue* time = map.optional("piece_overhead")) {
    problem->piece_overhead = read_time(*time);
  }
  if (const YamlValue* time = map.optional("enqueue")) problem->host.enqueue = read_time(*time);
  if (const YamlValue* time = map.optional("image")) problem->host.allocation = read_time(*time);
  if (const YamlValue* rate = map.optional("image_bandwidth")) {
    problem->host.allocation_nanoseconds_per_byte = read_nanoseconds_per_byte(*rate);
  }
  map.reject_unknown();
}

void read_settings(YamlMap* map, TimedProblem* problem) {
  problem->chunk = read_size(map->required("chunk"), 1);
  if (const YamlValue* budget = map->optional("budget")) problem->budget = read_size(*budget, 1);
  if (const YamlValue* time = map->optional("head_start")) problem->head_start = read_time(*time);
  if (const YamlValue* count = map->optional("images_a_launch")) {
    problem->images_a_launch = static_cast<std::size_t>(count->unsigned_integer(1, 1000));
  }
  if (const YamlValue* copy = map->optional("copy")) read_copy(*copy, problem);
  if (const YamlValue* claims = map->optional("whole_claims")) read_whole_claims(*claims, problem);
}

void read_launches(const YamlValue& list, NamedTimedProblem* named, Positions* positions) {
  for (const YamlValue& item : list.sequence()) {
    YamlMap map = item.map();
    const std::string name = map.required("name").text();
    named->problem.launches.push_back(read_launch(&map));
    map.reject_unknown();
    if (!positions->emplace(name, positions->size()).second) {
      item.fail("second launch named '" + name + "'");
    }
    named->launches.push_back(name);
  }
  if (positions->empty()) list.fail("there must be at least one launch");
}

void read_weights(const YamlValue& list, const Positions& launches, NamedTimedProblem* named) {
  Positions names;
  std::size_t before = 0;
  for (const YamlValue& item : list.sequence()) {
    YamlMap map = item.map();
    const std::string name = map.required("name").text();
    const TimedWeight weight = read_weight(&map, launches, named->problem.whole_claims);
    map.reject_unknown();
    if (!names.emplace(name, names.size()).second) {
      item.fail("second weight named '" + name + "'");
    }
    if (weight.first_use < before) {
      map.required("first_use")
          .fail("weights are read in the order of their first use: '" + name +
                "' must stand before '" + named->weights.back() + "'");
    }
    before = weight.first_use;
    named->problem.weights.push_back(weight);
    named->weights.push_back(name);
  }
}

}  // namespace

bool is_timed_problem(const YamlValue& document) {
  return document.is_map() && document.map().optional("timed") != nullptr;
}

NamedTimedProblem timed_problem_of(const YamlValue& document) {
  YamlMap map = document.map();
  NamedTimedProblem named;
  map.required("timed").unsigned_integer(format_version, format_version);
  named.name = map.required("name").text();
  read_settings(&map, &named.problem);
  Positions launches;
  read_launches(map.required("launches"), &named, &launches);
  read_weights(map.required("weights"), launches, &named);
  map.reject_unknown();
  return named;
}

}  // namespace fm
