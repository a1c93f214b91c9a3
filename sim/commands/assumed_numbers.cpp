#include "sim/commands/assumed_numbers.hpp"

#include <algorithm>
#include <cmath>

#include "core/digest.hpp"

namespace fm {
namespace {

bool is_movable(const ParameterSchema& schema) {
  switch (schema.kind) {
    case QuantityKind::count:
    case QuantityKind::ratio:
    case QuantityKind::time:
    case QuantityKind::cycles:
    case QuantityKind::bandwidth:
    case QuantityKind::energy:
    case QuantityKind::power:
      return true;
    default:
      return false;
  }
}

/// Corners come in pairs of opposites: what one moves up, the next moves down.
bool goes_up(const std::string& path, std::uint32_t corner) {
  const std::string digest = digest_of(path + "#" + std::to_string(corner / 2));
  return ((digest.back() ^ corner) & 1) == 0;
}

double moved(double number, QuantityKind kind, double factor) {
  const double value = number * factor;
  const bool whole = kind == QuantityKind::count || kind == QuantityKind::cycles ||
                     kind == QuantityKind::time || kind == QuantityKind::bandwidth;
  return whole ? std::round(value) : value;
}

}  // namespace

std::vector<std::string> moved_assumptions(const DeviceConfig& config, double share,
                                           std::uint32_t corner,
                                           const std::set<std::string>& kept) {
  DeviceConfig changed = config;
  std::vector<std::string> settings;
  for (const ParameterSchema& schema : device_config_schema()) {
    const ConfigValue& value = config.values().at(schema.path);
    if (value.source != SourceKind::assumed || !is_movable(schema) || kept.count(schema.path) != 0)
      continue;
    const double factor = goes_up(schema.path, corner) ? 1 + share : 1 - share;
    const double number =
        std::clamp(moved(value.number, schema.kind, factor), schema.minimum, schema.maximum);
    const std::string text = quantity_text(number, schema.kind);
    DeviceConfig candidate = changed;
    try {
      candidate.set(schema.path, text);
      candidate.check();
    } catch (const UserError&) {
      continue;  // contradicts another value
    }
    changed = candidate;
    settings.push_back(schema.path + "=" + text);
  }
  return settings;
}

}  // namespace fm
