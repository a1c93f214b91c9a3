#include "core/device_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "core/enum_words.hpp"
#include "core/yaml_text.hpp"
#include "core/yaml_value.hpp"

namespace fm {
namespace {

constexpr std::uint64_t config_schema_version = 1;
constexpr std::array source_kinds{SourceKind::spec, SourceKind::measured, SourceKind::derived,
                                  SourceKind::assumed};

const ParameterSchema* find_schema(const std::string& path) {
  for (const ParameterSchema& schema : device_config_schema()) {
    if (schema.path == path) return &schema;
  }
  return nullptr;
}

std::string section_of(const std::string& path) { return path.substr(0, path.find('.')); }
std::string key_of(const std::string& path) { return path.substr(path.find('.') + 1); }

std::string plain(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

const char* canonical_unit(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::bytes:
      return " B";
    case QuantityKind::frequency:
      return " Hz";
    case QuantityKind::time:
      return " ps";
    case QuantityKind::cycles:
      return " cycles";
    case QuantityKind::bandwidth:
      return " B/s";
    case QuantityKind::energy:
      return " pJ";
    case QuantityKind::power:
      return " mW";
    default:
      return "";
  }
}

void check_range(double number, const ParameterSchema& schema, const YamlValue& value) {
  if (number >= schema.minimum && number <= schema.maximum) return;
  const std::string unit = canonical_unit(schema.kind);
  value.fail("'" + value.text() + "' is outside its range: " + plain(schema.minimum) + unit +
             " to " + plain(schema.maximum) + unit);
}

std::vector<CurvePoint> read_curve(const YamlValue& value, const ParameterSchema& schema) {
  std::vector<CurvePoint> curve;
  for (const YamlValue& item : value.sequence()) {
    const std::vector<YamlValue> pair = item.sequence();
    if (pair.size() != 2) item.fail("a point of the curve is a pair [x, y]");
    const CurvePoint point{parse_quantity(pair[0].text(), schema.curve_x, pair[0].where()),
                           parse_quantity(pair[1].text(), schema.curve_y, pair[1].where())};
    if (point.x <= 0) pair[0].fail("must be above 0");
    if (point.y < schema.minimum || point.y > schema.maximum) {
      pair[1].fail("'" + pair[1].text() + "' is outside its range");
    }
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

/// The value itself; its source is the caller's.
ConfigValue read_value(const YamlValue& value, const ParameterSchema& schema) {
  ConfigValue result;
  result.where = value.where();
  if (schema.kind == QuantityKind::curve) {
    result.curve = read_curve(value, schema);
    result.text = curve_text(value);
    return result;
  }
  result.text = value.text();
  if (schema.kind == QuantityKind::word) {
    if (std::find(schema.words.begin(), schema.words.end(), result.text) == schema.words.end()) {
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

ConfigValue read_parameter(const YamlValue& leaf, const ParameterSchema& schema) {
  if (!leaf.is_map())
    leaf.fail("needs {value: .., source: spec|measured|derived|assumed, cite: ..}");
  YamlMap map = leaf.map();
  ConfigValue value = read_value(map.required("value").renamed(schema.path), schema);
  const YamlValue source = map.required("source");
  value.source = enum_from_word(source.text(), source_kinds, source.what(), source.where());
  const YamlValue citation = map.required("cite");
  value.citation = citation.text();
  if (value.citation.find_first_not_of(" \t") == std::string::npos) {
    citation.fail("the citation is empty: every number has a source");
  }
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

std::vector<std::string> schema_paths() {
  std::vector<std::string> paths;
  for (const ParameterSchema& schema : device_config_schema()) paths.push_back(schema.path);
  return paths;
}

std::vector<std::filesystem::path> config_folders() {
  return {"configs", FM_SOURCE_CONFIGS, FM_INSTALL_CONFIGS};
}

std::string find_config(const std::string& name_or_path) {
  std::error_code error;
  const bool is_path = name_or_path.find('/') != std::string::npos;
  if (is_path || std::filesystem::is_regular_file(name_or_path, error)) return name_or_path;
  const std::filesystem::path name(name_or_path);
  std::vector<std::string> known;
  for (const std::filesystem::path& folder : config_folders()) {
    for (const char* extension : {"", ".yaml"}) {
      const std::filesystem::path candidate = folder / (name_or_path + extension);
      if (std::filesystem::is_regular_file(candidate, error)) return candidate.string();
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string stem = entry.path().stem().string();
      const bool is_config = entry.path().extension() == ".yaml";
      if (is_config && std::find(known.begin(), known.end(), stem) == known.end()) {
        known.push_back(stem);
      }
    }
  }
  std::sort(known.begin(), known.end());
  throw UserError("no device config '" + name_or_path +
                  "': neither a file nor in configs/: " + accepted_words(name_or_path, known));
}

}  // namespace

DeviceConfig DeviceConfig::load(const std::string& name_or_path) {
  const std::string path = find_config(name_or_path);
  return parse(read_text_file(path), path);
}

DeviceConfig DeviceConfig::parse(const std::string& yaml, const std::string& file_name) {
  const YamlValue document = parse_yaml_document(yaml, file_name);
  YamlMap root = document.map();
  check_schema_version(root);
  DeviceConfig config;
  config.name_ = root.required("name").text();
  config.description_ = root.required("description").text();
  std::map<std::string, YamlMap> sections;
  std::string missing;
  for (const ParameterSchema& schema : device_config_schema()) {
    const std::string section = section_of(schema.path);
    if (sections.count(section) == 0) {
      const YamlValue* value = root.optional(section);
      if (value != nullptr && !value->is_null()) sections.emplace(section, value->map());
    }
    const auto entry = sections.find(section);
    const YamlValue* leaf =
        entry == sections.end() ? nullptr : entry->second.optional(key_of(schema.path));
    if (leaf == nullptr) {
      missing += (missing.empty() ? "" : ", ") + schema.path;
    } else {
      config.values_[schema.path] = read_parameter(leaf->renamed(schema.path), schema);
    }
  }
  // Misspelt keys first: each is the likely reason for a missing one.
  root.reject_unknown();
  for (const auto& [name, section] : sections) section.reject_unknown();
  if (!missing.empty()) {
    throw UserError({file_name}, "a config is complete or refused; missing: " + missing);
  }
  config.check();
  return config;
}

void DeviceConfig::set(const std::string& path, const std::string& value) {
  const ParameterSchema* schema = find_schema(path);
  if (schema == nullptr) {
    throw UserError("--set " + path + ": unknown key: " + accepted_words(path, schema_paths()));
  }
  const YamlValue parsed = parse_yaml_document(value, "--set " + path + "=" + value);
  ConfigValue replacement = read_value(parsed.renamed(path), *schema);
  replacement.source = SourceKind::assumed;
  replacement.citation = "command line";
  values_[path] = replacement;
}

std::string DeviceConfig::to_yaml() const {
  std::string out = "schema: " + std::to_string(config_schema_version) +
                    "\nname: " + yaml_word(name_) + "\ndescription: " + yaml_quoted(description_) +
                    "\n";
  std::string section;
  for (const ParameterSchema& schema : device_config_schema()) {
    const ConfigValue& value = values_.at(schema.path);
    if (section_of(schema.path) != section) {
      section = section_of(schema.path);
      out += section + ":\n";
    }
    out += "  " + key_of(schema.path) + ": {value: " + value.text +
           ", source: " + to_string(value.source) + ", cite: " + yaml_quoted(value.citation) +
           "}\n";
  }
  return out;
}

const ConfigValue& DeviceConfig::value(const std::string& path, QuantityKind kind) const {
  const ParameterSchema* schema = find_schema(path);
  if (schema == nullptr || schema->kind != kind) {
    throw std::logic_error("device config: '" + path + "' is not in the schema with that kind");
  }
  return values_.at(path);
}

std::uint64_t DeviceConfig::count(const std::string& path) const {
  return static_cast<std::uint64_t>(value(path, QuantityKind::count).number);
}
double DeviceConfig::ratio(const std::string& path) const {
  return value(path, QuantityKind::ratio).number;
}
Bytes DeviceConfig::bytes(const std::string& path) const {
  return Bytes(static_cast<std::uint64_t>(value(path, QuantityKind::bytes).number));
}
double DeviceConfig::hertz(const std::string& path) const {
  return value(path, QuantityKind::frequency).number;
}
Picoseconds DeviceConfig::time(const std::string& path) const {
  return Picoseconds(
      static_cast<std::uint64_t>(std::llround(value(path, QuantityKind::time).number)));
}
Cycles DeviceConfig::cycles(const std::string& path) const {
  return Cycles(static_cast<std::uint64_t>(value(path, QuantityKind::cycles).number));
}
double DeviceConfig::bytes_per_second(const std::string& path) const {
  return value(path, QuantityKind::bandwidth).number;
}
double DeviceConfig::picojoules(const std::string& path) const {
  return value(path, QuantityKind::energy).number;
}
double DeviceConfig::milliwatts(const std::string& path) const {
  return value(path, QuantityKind::power).number;
}
const std::string& DeviceConfig::word(const std::string& path) const {
  return value(path, QuantityKind::word).word;
}
bool DeviceConfig::flag(const std::string& path) const {
  return value(path, QuantityKind::flag).number != 0;
}
const std::vector<CurvePoint>& DeviceConfig::curve(const std::string& path) const {
  return value(path, QuantityKind::curve).curve;
}

}  // namespace fm
