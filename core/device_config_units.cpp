#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

#include "core/device_config.hpp"
#include "core/real_number.hpp"

namespace fm {
namespace {

struct Unit {
  const char* name;
  double factor;  ///< canonical units in one of this
};

const std::vector<Unit>& units_of(QuantityKind kind) {
  static const std::vector<Unit> none;
  static const std::vector<Unit> ratio{{"", 1}, {"%", 0.01}};
  static const std::vector<Unit> bytes{
      {"B", 1}, {"KiB", 1024}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024}};
  static const std::vector<Unit> frequency{{"Hz", 1},    {"kHz", 1e3},  {"MHz", 1e6},
                                           {"GHz", 1e9}, {"MT/s", 1e6}, {"GT/s", 1e9}};
  static const std::vector<Unit> time{
      {"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  static const std::vector<Unit> cycles{{"cycles", 1}, {"cycle", 1}};
  static const std::vector<Unit> bandwidth{{"B/s", 1},
                                           {"kB/s", 1e3},
                                           {"MB/s", 1e6},
                                           {"GB/s", 1e9},
                                           {"KiB/s", 1024},
                                           {"MiB/s", 1024.0 * 1024},
                                           {"GiB/s", 1024.0 * 1024 * 1024}};
  static const std::vector<Unit> energy{{"fJ", 1e-3}, {"pJ", 1}, {"nJ", 1e3}, {"uJ", 1e6}};
  static const std::vector<Unit> power{{"uW", 1e-3}, {"mW", 1}, {"W", 1e3}};
  static const std::vector<Unit> voltage{{"mV", 1e-3}, {"V", 1}};
  static const std::vector<Unit> temperature{{"C", 1}};
  static const std::vector<Unit> temperature_difference{{"K", 1}};
  static const std::vector<Unit> thermal_resistance{{"K/W", 1}};
  static const std::vector<Unit> heat_capacity{{"J/K", 1}};
  static const std::vector<Unit> count{{"", 1}};
  switch (kind) {
    case QuantityKind::count:
      return count;
    case QuantityKind::ratio:
      return ratio;
    case QuantityKind::bytes:
      return bytes;
    case QuantityKind::frequency:
      return frequency;
    case QuantityKind::time:
      return time;
    case QuantityKind::cycles:
      return cycles;
    case QuantityKind::bandwidth:
      return bandwidth;
    case QuantityKind::energy:
      return energy;
    case QuantityKind::power:
      return power;
    case QuantityKind::voltage:
      return voltage;
    case QuantityKind::temperature:
      return temperature;
    case QuantityKind::temperature_difference:
      return temperature_difference;
    case QuantityKind::thermal_resistance:
      return thermal_resistance;
    case QuantityKind::heat_capacity:
      return heat_capacity;
    case QuantityKind::word:
    case QuantityKind::flag:
    case QuantityKind::curve:
      return none;
  }
  return none;
}

const char* what_is_measured(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::count:
      return "a count";
    case QuantityKind::ratio:
      return "a ratio";
    case QuantityKind::bytes:
      return "a size";
    case QuantityKind::frequency:
      return "a frequency";
    case QuantityKind::time:
      return "a time";
    case QuantityKind::cycles:
      return "a number of clock cycles";
    case QuantityKind::bandwidth:
      return "a bandwidth";
    case QuantityKind::energy:
      return "an energy";
    case QuantityKind::power:
      return "a power";
    case QuantityKind::voltage:
      return "a voltage";
    case QuantityKind::temperature:
      return "a temperature";
    case QuantityKind::temperature_difference:
      return "a difference of temperatures";
    case QuantityKind::thermal_resistance:
      return "a thermal resistance";
    case QuantityKind::heat_capacity:
      return "a heat capacity";
    case QuantityKind::word:
      return "a word";
    case QuantityKind::flag:
      return "true or false";
    case QuantityKind::curve:
      return "a curve";
  }
  return "a value";
}

/// Whole numbers only: half a byte or half a cache way is a mistake.
bool is_whole(QuantityKind kind) {
  return kind == QuantityKind::count || kind == QuantityKind::bytes || kind == QuantityKind::cycles;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string quantity_text(double number, QuantityKind kind) {
  Unit chosen{"", 1};
  for (const Unit& unit : units_of(kind)) {
    const std::string name = unit.name;
    // Derived words for the same dimension: percent, transfers, decimal beside binary.
    if (name == "%" || name == "MT/s" || name == "GT/s" || name == "KiB/s" || name == "MiB/s" ||
        name == "GiB/s" || name == "cycle") {
      continue;
    }
    const double inside = number / unit.factor;
    if (*chosen.name == '\0' || (number == 0 && unit.factor == 1) ||
        (inside >= 1 && inside == std::floor(inside)))
      chosen = unit;
  }
  std::ostringstream text;
  text << std::setprecision(15) << number / chosen.factor;
  if (*chosen.name != '\0') text << " " << chosen.name;
  return text.str();
}

double parse_quantity(const std::string& text, QuantityKind kind, const SourceLocation& where) {
  const std::string measured = what_is_measured(kind);
  std::vector<std::string> names;
  bool unitless = false;
  for (const Unit& unit : units_of(kind)) {
    if (*unit.name == '\0') unitless = true;
    if (*unit.name != '\0') names.emplace_back(unit.name);
  }
  const std::string clean = trimmed(text);
  double number = 0;
  const auto [end, error] = read_real(clean, number);
  if (error != std::errc{} || !std::isfinite(number)) {
    const std::string example = names.empty() ? "" : ", e.g. '4 " + names.front() + "'";
    throw UserError(where, "'" + text + "' is not " + measured + ": a number is needed" + example);
  }
  const std::string name = trimmed(std::string(end, clean.data() + clean.size()));
  for (const Unit& unit : units_of(kind)) {
    if (name != unit.name) continue;
    double value = number * unit.factor;
    // "29.89 MiB" is no whole number of bytes: rounded down.
    if (kind == QuantityKind::bytes && unit.factor > 1) value = std::floor(value);
    if (is_whole(kind) && value != std::floor(value)) {
      throw UserError(where, "'" + text + "' is not a whole number of " +
                                 (kind == QuantityKind::bytes ? "bytes" : "units"));
    }
    return value;
  }
  if (name.empty()) {
    throw UserError(where, "'" + text + "' has no unit: " + measured + " needs one " +
                               accepted_words("", names));
  }
  if (names.empty()) {
    throw UserError(where,
                    "'" + text + "' has the unit '" + name + "': " + measured + " takes none");
  }
  throw UserError(where, "'" + text + "' has the unit '" + name + "', which is not one of " +
                             measured + ": " + accepted_words(name, names) +
                             (unitless ? " or no unit" : ""));
}

}  // namespace fm
