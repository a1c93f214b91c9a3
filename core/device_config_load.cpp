// A device config from its files: the named one, the chain of its bases, its DRAM preset.
#include <filesystem>

#include "core/device_config_file.hpp"

namespace fm {
namespace {

/// Values of a preset are known by their origin: another preset may take their place.
const std::string preset_folder = "dram/";

bool is_from_preset(const ConfigValue& value) {
  return value.origin.compare(0, preset_folder.size(), preset_folder) == 0;
}

bool is_dram(const std::string& path) { return path.compare(0, 5, "dram.") == 0; }

ConfigFile open_config_file(const std::string& path, const std::string& origin) {
  return read_config_file(read_text_file(path), path, origin);
}

/// `file` and all it builds on, the nearest first; `find` finds a base. Throws UserError when a
/// file is its own base.
template <class Find>
std::vector<ConfigFile> with_bases(ConfigFile file, const Find& find) {
  std::vector<ConfigFile> chain{std::move(file)};
  while (chain.back().base) {
    const ConfigReference base = *chain.back().base;
    const std::string path = find(base, chain.back().path);
    std::string way;
    for (const ConfigFile& earlier : chain) {
      std::error_code error;
      const bool again = std::filesystem::equivalent(earlier.path, path, error);
      if (again || !way.empty()) way += (way.empty() ? "" : " -> ") + earlier.origin;
    }
    if (!way.empty()) {
      throw UserError(base.where, "base: a cycle: " + way + " -> " + config_origin(path));
    }
    chain.push_back(open_config_file(path, config_origin(path)));
  }
  return chain;
}

/// The values of a DRAM preset and its bases.
std::map<std::string, ConfigValue> preset_values(const ConfigReference& preset,
                                                 const std::string& path) {
  const std::string found = find_dram_preset(preset, path);
  const std::string origin = preset_folder + std::filesystem::path(found).filename().string();
  std::map<std::string, ConfigValue> values;
  for (const ConfigFile& file : with_bases(open_config_file(found, origin), find_dram_preset)) {
    for (const auto& [key, value] : file.values) {
      if (!is_dram(key)) throw UserError(value.where, key + ": a DRAM preset gives dram.* only");
      ConfigValue copy = value;
      copy.origin = origin;
      values.emplace(key, std::move(copy));
    }
  }
  return values;
}

std::string missing_of(const std::map<std::string, ConfigValue>& values, bool dram_only) {
  std::string missing;
  for (const ParameterSchema& schema : device_config_schema()) {
    if (values.count(schema.path) != 0 || (dram_only && !is_dram(schema.path))) continue;
    missing += (missing.empty() ? "" : ", ") + schema.path;
  }
  return missing;
}

/// As it was written on the command line.
std::string setting_text(const std::string& path, const std::string& value) {
  std::string text = "--set ";
  return text.append(path).append("=").append(value);
}

std::string names_of(const std::vector<ConfigFile>& chain) {
  std::string names;
  for (const ConfigFile& file : chain) names += (names.empty() ? "" : ", ") + file.origin;
  return names;
}

std::string required_text(const std::optional<std::string>& text, const char* key,
                          const std::string& path) {
  if (!text) throw UserError({path}, std::string("the key '") + key + "' is missing");
  if (text->empty()) throw UserError({path}, std::string("the key '") + key + "' has no text");
  return *text;
}

}  // namespace

DeviceConfig DeviceConfig::load(const std::string& name_or_path) {
  const std::string path = find_device_config(name_or_path);
  return parse(read_text_file(path), path);
}

DeviceConfig DeviceConfig::parse(const std::string& yaml, const std::string& file_name) {
  const std::vector<ConfigFile> chain =
      with_bases(read_config_file(yaml, file_name, config_origin(file_name)), find_base_config);
  DeviceConfig config;
  config.name_ = required_text(chain.front().name, "name", file_name);
  config.description_ = required_text(chain.front().description, "description", file_name);
  for (const ConfigFile& file : chain) {
    config.values_.insert(file.values.begin(), file.values.end());
    if (!config.dram_preset_) config.dram_preset_ = file.dram_preset;
  }
  if (config.dram_preset_ && !missing_of(config.values_, true).empty()) {
    const ConfigValue& preset = *config.dram_preset_;
    const auto values = preset_values({preset.word, preset.where}, preset.where.file);
    config.values_.insert(values.begin(), values.end());
  }
  const std::string missing = missing_of(config.values_, false);
  if (!missing.empty()) {
    const std::string looked = chain.size() == 1 ? "" : " (looked in " + names_of(chain) + ")";
    throw UserError({file_name}, "a config is complete or refused; missing: " + missing + looked);
  }
  config.check();
  return config;
}

void DeviceConfig::set_dram_preset(const std::string& name) {
  const std::string setting = setting_text(dram_preset_key, name);
  const auto values = preset_values({name, {setting}}, "");
  bool replaced = false;
  for (auto& [path, value] : values_) {
    if (!is_from_preset(value)) continue;
    const auto other = values.find(path);
    if (other == values.end()) throw UserError(setting + ": the preset does not give " + path);
    value = other->second;
    replaced = true;
  }
  if (!replaced) throw UserError(setting + ": this config takes no value from a preset");
  ConfigValue preset;
  preset.word = preset.text = name;
  preset.citation = preset.origin = "command line";
  preset.where = {setting};
  dram_preset_ = preset;
}

void DeviceConfig::set(const std::string& path, const std::string& value) {
  if (path == dram_preset_key) return set_dram_preset(value);
  std::vector<std::string> paths{dram_preset_key};
  for (const ParameterSchema& schema : device_config_schema()) {
    paths.push_back(schema.path);
    if (schema.path != path) continue;
    if (value.empty()) {
      throw UserError("--set " + path + "=: a value is missing: " + schema.range());
    }
    const YamlValue parsed = parse_yaml_document(value, setting_text(path, value));
    const bool plateau = schema.kind == QuantityKind::curve &&
                         schema.curve_y == QuantityKind::bandwidth && parsed.is_scalar();
    ConfigValue replacement = plateau ? scaled_curve(values_.at(path), parsed.renamed(path), schema)
                                      : read_config_value(parsed.renamed(path), schema);
    replacement.source = SourceKind::assumed;
    replacement.citation = replacement.origin = "command line";
    values_[path] = replacement;
    return;
  }
  throw UserError("--set " + path + ": unknown key: " + accepted_words(path, paths));
}

}  // namespace fm
