#pragma once
// A device's configuration: numbers with units and sources, read from YAML, checked against a
// schema.
//
//   l2:
//     size: {value: 2 MiB, source: assumed, cite: "Arm Valhall guide: 64-128 KB a core is typical"}
//
// A config may extend another (`base: mali-valhall`) and take its DRAM from a preset
// (`dram.preset`); it then gives only what differs. Only the whole must be complete.
//
// The schema (device_config_schema.cpp) lists every parameter once: path, kind of quantity, range,
// description.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnostics.hpp"
#include "core/units.hpp"

namespace fm {

/// What a number measures; decides the accepted units. Canonical units: bytes, hertz, picoseconds,
/// cycles, bytes per second, picojoules, milliwatts, volts, degrees Celsius, kelvins,
/// kelvins per watt, joules per kelvin, plain counts and ratios; `word` is one of a
/// list, `curve` a table.
enum class QuantityKind {
  count,
  ratio,
  bytes,
  frequency,
  time,
  cycles,
  bandwidth,
  energy,
  power,
  voltage,
  temperature,
  temperature_difference,
  thermal_resistance,
  heat_capacity,
  word,
  flag,
  curve
};

enum class SourceKind { spec, measured, derived, assumed };
std::string to_string(SourceKind kind);

/// One point of a curve, e.g. storage bandwidth over request size: x and y in canonical units.
struct CurvePoint {
  double x = 0;
  double y = 0;
};

/// A curve's value at `x`: linear between its points over log2 of x, constant outside them.
/// `curve`: ascending x; not empty.
double curve_at(const std::vector<CurvePoint>& curve, double x);

struct ParameterSchema {
  std::string path;  ///< "l2.size"
  QuantityKind kind = QuantityKind::count;
  double minimum = 0;
  double maximum = 0;              ///< inclusive, canonical units
  std::vector<std::string> words;  ///< for QuantityKind::word; none: any text
  std::string description;
  QuantityKind curve_x = QuantityKind::bytes;  ///< for curves; the range above is y's
  QuantityKind curve_y = QuantityKind::bandwidth;
  double curve_x_minimum = 0, curve_x_maximum = 0;

  /// "1 KiB to 16 MiB", "one of a, b", "true or false".
  std::string range() const;
};
/// Every parameter a config must give. No defaults: a config is complete or refused.
const std::vector<ParameterSchema>& device_config_schema();

struct ConfigValue {
  double number = 0;  ///< canonical units
  std::string word;
  std::vector<CurvePoint> curve;
  std::string text;  ///< as written, with its unit
  SourceKind source = SourceKind::assumed;
  std::string citation;
  std::string origin;  ///< the file it came from: "base/mali.yaml", or "command line"
  SourceLocation where;
};

class DeviceConfig {
 public:
  /// `name_or_path`: a file, or a bare name looked up in configs/ (of the working folder, then of
  /// the install). Throws UserError: unknown or missing keys, wrong units, out-of-range values, no
  /// source, a base or preset that does not exist, a cycle of bases.
  static DeviceConfig load(const std::string& name_or_path);
  /// `file_name`: where relative bases are looked up, and what messages name.
  static DeviceConfig parse(const std::string& yaml, const std::string& file_name);

  /// `--set path=value`: replaces a value; it becomes `assumed`, cited "command line". One
  /// bandwidth for a curve of bandwidths scales the curve: the highest point becomes that.
  /// `dram.preset` replaces every value that came from the config's preset.
  void set(const std::string& path, const std::string& value);
  /// Contradictions between keys (a line larger than its cache, ...); names both keys. Called by
  /// load() and to be called again after set().
  void check() const;

  const std::string& name() const { return name_; }  ///< "mali-g715"
  const std::string& description() const { return description_; }
  const std::map<std::string, ConfigValue>& values() const { return values_; }
  /// The DRAM preset that gave what the files left open.
  const std::optional<ConfigValue>& dram_preset() const { return dram_preset_; }
  /// The effective config as YAML, which parse() accepts: `from` names each value's file.
  std::string to_yaml() const;

  // Accessors throw std::logic_error when `path` is not in the schema with that kind.
  std::uint64_t count(const std::string& path) const;
  double ratio(const std::string& path) const;
  Bytes bytes(const std::string& path) const;
  double hertz(const std::string& path) const;
  Picoseconds time(const std::string& path) const;
  Cycles cycles(const std::string& path) const;
  double bytes_per_second(const std::string& path) const;
  double picojoules(const std::string& path) const;
  double milliwatts(const std::string& path) const;
  double celsius(const std::string& path) const;
  double kelvin(const std::string& path) const;  ///< a difference
  double kelvin_per_watt(const std::string& path) const;
  double joules_per_kelvin(const std::string& path) const;
  const std::string& word(const std::string& path) const;
  bool flag(const std::string& path) const;
  const std::vector<CurvePoint>& curve(const std::string& path) const;

 private:
  const ConfigValue& value(const std::string& path, QuantityKind kind) const;
  void set_dram_preset(const std::string& name);
  std::string name_;
  std::string description_;
  std::map<std::string, ConfigValue> values_;
  std::optional<ConfigValue> dram_preset_;
};

/// What one column command of a DRAM channel moves.
Bytes dram_burst(const DeviceConfig& config);
/// Bytes a second over the data pins of all DRAM channels.
double dram_peak_bandwidth(const DeviceConfig& config);

/// 2097152 with kind bytes -> "2 MiB": the largest unit that keeps the number whole, else 1 or
/// more.
std::string quantity_text(double number, QuantityKind kind);

/// "2 MiB" -> 2097152 with kind bytes; throws UserError(where) naming the accepted units.
double parse_quantity(const std::string& text, QuantityKind kind, const SourceLocation& where);

}  // namespace fm
