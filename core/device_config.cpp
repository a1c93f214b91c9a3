#include "core/device_config.hpp"

#include <cmath>
#include <stdexcept>

#include "core/yaml_text.hpp"

namespace fm {
namespace {

constexpr std::uint64_t config_schema_version = 1;

const ParameterSchema* find_schema(const std::string& path) {
  for (const ParameterSchema& schema : device_config_schema()) {
    if (schema.path == path) return &schema;
  }
  return nullptr;
}

std::string section_of(const std::string& path) { return path.substr(0, path.find('.')); }
std::string key_of(const std::string& path) { return path.substr(path.find('.') + 1); }

std::string leaf(const std::string& key, const ConfigValue& value) {
  return "  " + key + ": {value: " + value.text + ", source: " + to_string(value.source) +
         ", cite: " + yaml_quoted(value.citation) + ", from: " + yaml_quoted(value.origin) + "}\n";
}

}  // namespace

std::string DeviceConfig::to_yaml() const {
  std::string out = "schema: " + std::to_string(config_schema_version) +
                    "\nname: " + yaml_word(name_) + "\ndescription: " + yaml_quoted(description_) +
                    "\n";
  std::string section;
  for (const ParameterSchema& schema : device_config_schema()) {
    if (section_of(schema.path) != section) {
      section = section_of(schema.path);
      out += section + ":\n";
      if (section == "dram" && dram_preset_) out += leaf("preset", *dram_preset_);
    }
    out += leaf(key_of(schema.path), values_.at(schema.path));
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
double DeviceConfig::celsius(const std::string& path) const {
  return value(path, QuantityKind::temperature).number;
}
double DeviceConfig::kelvin(const std::string& path) const {
  return value(path, QuantityKind::temperature_difference).number;
}
double DeviceConfig::kelvin_per_watt(const std::string& path) const {
  return value(path, QuantityKind::thermal_resistance).number;
}
double DeviceConfig::joules_per_kelvin(const std::string& path) const {
  return value(path, QuantityKind::heat_capacity).number;
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

Bytes dram_burst(const DeviceConfig& config) {
  return Bytes(config.count("dram.channel_width_bits") * config.count("dram.burst_length") / 8);
}

double dram_peak_bandwidth(const DeviceConfig& config) {
  return static_cast<double>(config.count("dram.channels") *
                             config.count("dram.channel_width_bits")) /
         8 * config.hertz("dram.data_rate");
}

}  // namespace fm
