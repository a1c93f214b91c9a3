// One file of a device config: its keys checked against the schema, each value with its unit, range
// and source.
#include "core/device_config_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/enum_words.hpp"

namespace fm {
namespace {

constexpr std::uint64_t config_schema_version = 1;
constexpr std::array source_kinds{SourceKind::spec, SourceKind::measured, SourceKind::derived,
                                  SourceKind::assumed};

std::string section_of(const std::string& path) { return path.substr(0, path.find('.')); }
std::string key_of(const std::string& path) { return path.substr(path.find('.') + 1); }

void check_range(double number, const ParameterSchema& schema, const YamlValue& value) {
  if (number >= schema.minimum && number <= schema.maximum) return;
  value.fail("'" + value.text() + "' is outside its range: " + schema.range());
}

std::vector<CurvePoint> read_curve(const YamlValue& value, const ParameterSchema& schema) {
  std::vector<CurvePoint> curve;
  for (const YamlValue& item : value.sequence()) {
    const std::vector<YamlValue> pair = item.sequence();
    if (pair.size() != 2) item.fail("a point of the curve is a pair [x, y]");
    const CurvePoint point{parse_quantity(pair[0].text(), schema.curve_x, pair[0].where()),
                           parse_quantity(pair[1].text(), schema.curve_y, pair[1].where())};
    if (point.x < schema.curve_x_minimum || point.x > schema.curve_x_maximum) {
      pair[0].fail("'" + pair[0].text() + "' is outside its range: " + schema.range());
    }
    check_range(point.y, schema, pair[1]);
    if (!curve.empty() && point.x <= curve.back().x) pair[0].fail("the curve's x must rise");
    curve.push_back(point);
  }
  if (curve.empty()) value.fail("the curve has no points");
  return curve;
}

std::string curve_text(const YamlValue& value) {
  std::string text;
  for (const YamlValue& item : value.sequence()) {
    const std::vector<YamlValue> pair = item.sequence();
    text += (text.empty() ? "[" : ", ") + ("[" + pair[0].text()) + ", " + pair[1].text() + "]";
  }
  return text + "]";
}

std::string curve_text(const std::vector<CurvePoint>& curve, const ParameterSchema& schema) {
  std::string text;
  for (const CurvePoint& point : curve) {
    text += (text.empty() ? "[[" : ", [") + quantity_text(point.x, schema.curve_x) + ", " +
            quantity_text(point.y, schema.curve_y) + "]";
  }
  return text + "]";
}

/// A parameter with its source, read by `read`. `from` is written by to_yaml(): an effective config
/// remembers the files it was made of.
template <class Read>
ConfigValue read_parameter(const YamlValue& leaf, const std::string& origin, const Read& read) {
  if (!leaf.is_map())
    leaf.fail("needs {value: .., source: spec|measured|derived|assumed, cite: ..}");
  YamlMap map = leaf.map();
  ConfigValue value = read(map.required("value").renamed(leaf.what()));
  const YamlValue source = map.required("source");
  value.source = enum_from_word(source.text(), source_kinds, source.what(), source.where());
  const YamlValue citation = map.required("cite");
  value.citation = citation.text();
  if (value.citation.find_first_not_of(" \t") == std::string::npos) {
    citation.fail("the citation is empty: every number has a source");
  }
  const YamlValue* from = map.optional("from");
  value.origin = from == nullptr ? origin : from->text();
  map.reject_unknown();
  return value;
}

void check_schema_version(YamlMap& map) {
  const YamlValue* version = map.optional("schema");
  if (version == nullptr) {
    throw UserError(map.where(), "not a device config: the key 'schema' is missing");
  }
  const std::uint64_t number = version->unsigned_integer();
  if (number == config_schema_version) return;
  version->fail("version " + std::to_string(number) + " is " +
                (number > config_schema_version ? "newer" : "older") + " than this tool's (" +
                std::to_string(config_schema_version) + ")");
}

std::optional<std::string> optional_text(YamlMap& map, const char* key) {
  const YamlValue* value = map.optional(key);
  if (value == nullptr) return std::nullopt;
  return value->text();
}

/// The name of a file elsewhere, unlike a word of a list.
ConfigValue read_name(const YamlValue& value) {
  ConfigValue result;
  result.where = value.where();
  result.text = result.word = value.text();
  return result;
}

/// The sections of a config, asked for key by key.
class Sections {
 public:
  explicit Sections(YamlMap& root) : root_(root) {}

  /// nullptr when the file does not give it.
  const YamlValue* find(const std::string& path) {
    const std::string section = section_of(path);
    if (maps_.count(section) == 0) {
      const YamlValue* value = root_.optional(section);
      if (value != nullptr && !value->is_null()) maps_.emplace(section, value->map());
    }
    const auto map = maps_.find(section);
    return map == maps_.end() ? nullptr : map->second.optional(key_of(path));
  }

  void reject_unknown() const {
    root_.reject_unknown();
    for (const auto& [name, map] : maps_) map.reject_unknown();
  }

 private:
  YamlMap& root_;
  std::map<std::string, YamlMap> maps_;
};

}  // namespace

ConfigValue read_config_value(const YamlValue& value, const ParameterSchema& schema) {
  ConfigValue result;
  result.where = value.where();
  if (schema.kind == QuantityKind::curve) {
    result.curve = read_curve(value, schema);
    result.text = curve_text(value);
    return result;
  }
  result.text = value.text();
  if (schema.kind == QuantityKind::word) {
    if (!schema.words.empty() &&
        std::find(schema.words.begin(), schema.words.end(), result.text) == schema.words.end()) {
      value.fail("unknown word '" + result.text +
                 "': " + accepted_words(result.text, schema.words));
    }
    result.word = result.text;
  } else if (schema.kind == QuantityKind::flag) {
    if (result.text != "true" && result.text != "false") {
      value.fail("needs true or false, not '" + result.text + "'");
    }
    result.number = result.text == "true" ? 1 : 0;
  } else {
    result.number = parse_quantity(result.text, schema.kind, value.where());
    check_range(result.number, schema, value);
  }
  return result;
}

ConfigValue scaled_curve(const ConfigValue& curve, const YamlValue& plateau,
                         const ParameterSchema& schema) {
  ConfigValue result = curve;
  result.where = plateau.where();
  const double highest = parse_quantity(plateau.text(), schema.curve_y, plateau.where());
  check_range(highest, schema, plateau);
  double before = 0;
  for (const CurvePoint& point : curve.curve) before = std::max(before, point.y);
  for (CurvePoint& point : result.curve) {
    point.y = std::round(point.y * highest / before);
    check_range(point.y, schema, plateau);
  }
  result.text = curve_text(result.curve, schema);
  return result;
}

ConfigFile read_config_file(const std::string& yaml, const std::string& path,
                            const std::string& origin) {
  const YamlValue document = parse_yaml_document(yaml, path);
  YamlMap root = document.map();
  check_schema_version(root);
  ConfigFile file;
  file.path = path;
  file.origin = origin;
  file.name = optional_text(root, "name");
  file.description = optional_text(root, "description");
  const YamlValue* base = root.optional("base");
  if (base != nullptr) file.base = ConfigReference{base->text(), base->where()};
  Sections sections(root);
  for (const ParameterSchema& schema : device_config_schema()) {
    const YamlValue* leaf = sections.find(schema.path);
    if (leaf == nullptr) continue;
    file.values[schema.path] =
        read_parameter(leaf->renamed(schema.path), origin,
                       [&](const YamlValue& value) { return read_config_value(value, schema); });
  }
  const YamlValue* preset = sections.find(dram_preset_key);
  if (preset != nullptr) {
    file.dram_preset = read_parameter(preset->renamed(dram_preset_key), origin, read_name);
  }
  sections.reject_unknown();
  return file;
}

}  // namespace fm
