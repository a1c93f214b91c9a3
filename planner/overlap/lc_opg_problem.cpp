#include "planner/overlap/lc_opg_problem.hpp"

#include <charconv>
#include <map>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::uint64_t format_version = 1;
/// Enough for any network, and sums of chunks stay far from overflow.
constexpr std::uint64_t largest_capacity = 1'000'000'000;

double read_lambda(const YamlValue& value) {
  const std::string text = value.text();
  double lambda = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lambda);
  if (error != std::errc() || end != text.data() + text.size() || !(lambda >= 0 && lambda <= 1)) {
    value.fail("`" + text + "` must be a number from 0 to 1, for example 0.9");
  }
  return lambda;
}

Bytes read_size(const YamlValue& value) {
  const Bytes bytes = value.bytes();
  if (bytes == Bytes(0)) value.fail("must be above 0 B");
  return bytes;
}

LcOpgLayer read_layer(const YamlValue& item) {
  YamlMap map = item.map();
  LcOpgLayer layer;
  layer.name = map.required("name").text();
  layer.capacity = map.required("capacity").unsigned_integer(0, largest_capacity);
  map.reject_unknown();
  return layer;
}

LcOpgWeight read_weight(const YamlValue& item, const std::map<std::string, std::size_t>& layers) {
  YamlMap map = item.map();
  LcOpgWeight weight;
  weight.name = map.required("name").text();
  weight.bytes = read_size(map.required("bytes"));
  const YamlValue layer = map.required("layer");
  const auto found = layers.find(layer.text());
  if (found == layers.end()) {
    layer.fail("weight '" + weight.name + "' is read by layer '" + layer.text() +
               "', which is not in `layers`");
  }
  weight.layer = found->second;
  if (const YamlValue* preload = map.optional("preload")) {
    const std::string word = preload->text();
    if (word != "true" && word != "false") preload->fail("must be true or false");
    weight.preload = word == "true";
  }
  map.reject_unknown();
  return weight;
}

void read_lists(YamlMap* map, LcOpgProblem* problem) {
  std::map<std::string, std::size_t> layers;
  for (const YamlValue& item : map->required("layers").sequence()) {
    problem->layers.push_back(read_layer(item));
    const std::string& name = problem->layers.back().name;
    if (!layers.emplace(name, layers.size()).second) item.fail("second layer named '" + name + "'");
  }
  if (layers.empty()) map->required("layers").fail("there must be at least one layer");
  std::map<std::string, bool> names;
  for (const YamlValue& item : map->required("weights").sequence()) {
    problem->weights.push_back(read_weight(item, layers));
    const std::string& name = problem->weights.back().name;
    if (!names.emplace(name, true).second) item.fail("second weight named '" + name + "'");
  }
}

}  // namespace

LcOpgProblem parse_lc_opg_problem(const std::string& yaml, const std::string& file_name) {
  return lc_opg_problem_of(parse_yaml_document(yaml, file_name));
}

LcOpgProblem lc_opg_problem_of(const YamlValue& document) {
  YamlMap map = document.map();
  LcOpgProblem problem;
  map.required("lc_opg").unsigned_integer(format_version, format_version);
  problem.name = map.required("name").text();
  problem.chunk_bytes = read_size(map.required("chunk_bytes"));
  problem.m_peak = map.required("m_peak").bytes();
  problem.lambda = read_lambda(map.required("lambda"));
  if (const YamlValue* limit = map.optional("preload_limit"))
    problem.preload_limit = limit->bytes();
  read_lists(&map, &problem);
  map.reject_unknown();
  return problem;
}

void force_preload(const std::vector<std::string>& names, LcOpgProblem* problem) {
  for (const std::string& name : names) {
    bool found = false;
    for (LcOpgWeight& weight : problem->weights) {
      if (weight.name != name) continue;
      weight.preload = found = true;
    }
    if (!found) {
      std::vector<std::string> known;
      for (const LcOpgWeight& weight : problem->weights) known.push_back(weight.name);
      throw UserError("cannot preload `" + name + "`: " + accepted_words(name, known));
    }
  }
}

}  // namespace fm
