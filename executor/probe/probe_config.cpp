#include "executor/probe/probe_config.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

#include "core/diagnostics.hpp"
#include "core/yaml_text.hpp"

namespace fm {
namespace {

const ParameterSchema& schema_of(const std::string& path) {
  const auto& schema = device_config_schema();
  return *std::find_if(schema.begin(), schema.end(),
                       [&](const ParameterSchema& known) { return known.path == path; });
}

/// Three digits: more is noise.
std::string value_text(double number, QuantityKind kind) {
  if (kind == QuantityKind::count || kind == QuantityKind::bytes || kind == QuantityKind::cycles) {
    return quantity_text(std::round(number), kind);
  }
  const double place = std::floor(std::log10(number)) - 2;
  const double power = std::pow(10, std::abs(place));  // whole: what it multiplies stays exact
  return quantity_text(
      place > 0 ? std::round(number / power) * power : std::round(number * power) / power, kind);
}

std::string value_text(const Figure& figure) {
  const ParameterSchema& schema = schema_of(figure.path);
  if (schema.kind != QuantityKind::curve) return value_text(figure.number, schema.kind);
  std::string text;
  for (const CurvePoint& point : figure.curve) {
    text += (text.empty() ? "[" : ", ") + std::string("[") + value_text(point.x, schema.curve_x) +
            ", " + value_text(point.y, schema.curve_y) + "]";
  }
  return text + "]";
}

/// What the config says against these figures together; empty when it takes them.
std::string contradiction(DeviceConfig* config, const std::vector<Figure>& figures) {
  DeviceConfig changed = *config;
  try {
    for (const Figure& figure : figures) changed.set(figure.path, value_text(figure));
    changed.check();
  } catch (const UserError& error) {
    return error.what();
  }
  *config = std::move(changed);
  return "";
}

std::string room_of(const std::string& path) { return path.substr(0, path.find('.')); }

std::string spread_text(double spread) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * spread << " %";
  return text.str();
}

std::string described(const Figure& figure) {
  if (figure.source != SourceKind::measured) return figure.how;
  return figure.how + "; spread " + spread_text(figure.spread);
}

}  // namespace

DeviceConfig with_figures(const DeviceConfig& base, Figures* figures) {
  DeviceConfig config = base;
  // All at once, else the figures of a room at once, else one by one: sizes, lines and ways may
  // only hold together.
  if (contradiction(&config, figures->found).empty()) return config;
  std::vector<Figure> accepted;
  std::vector<std::string> rooms;
  for (const Figure& figure : figures->found) {
    if (std::find(rooms.begin(), rooms.end(), room_of(figure.path)) == rooms.end()) {
      rooms.push_back(room_of(figure.path));
    }
  }
  for (const std::string& room : rooms) {
    std::vector<Figure> own;
    for (const Figure& figure : figures->found) {
      if (room_of(figure.path) == room) own.push_back(figure);
    }
    if (contradiction(&config, own).empty()) {
      accepted.insert(accepted.end(), own.begin(), own.end());
      continue;
    }
    for (const Figure& figure : own) {
      const std::string against = contradiction(&config, {figure});
      if (against.empty()) {
        accepted.push_back(figure);
      } else {
        figures->not_visible.push_back({figure.path, "measured as " + value_text(figure) +
                                                         ", which the rest of the config "
                                                         "contradicts: " +
                                                         against});
      }
    }
  }
  figures->found = std::move(accepted);
  return config;
}

std::string config_yaml(const ProbeData& data, const Figures& figures, const std::string& name,
                        const std::string& base) {
  const std::string by =
      "fmprobe on " + data.device + (data.date.empty() ? "" : ", " + data.date) + ": ";
  std::ostringstream out;
  out << "# Written by fmprobe. What it did not measure comes from the base, with its own "
         "source.\n";
  for (const Observation& seen : figures.observations) {
    out << "# Seen: " << seen.what << ": " << seen.value << "\n";
  }
  for (const NotVisible& missing : figures.not_visible) {
    std::string reason = missing.reason;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    out << "# Not visible: " << missing.path << ": " << reason << "\n";
  }
  out << "schema: 1\nname: " << yaml_word(name)
      << "\ndescription: " << yaml_quoted(data.device + ", as probed")
      << "\nbase: " << yaml_word(base) << "\n";
  std::set<std::string> done;
  for (const Figure& first : figures.found) {
    const std::string room = room_of(first.path);
    if (!done.insert(room).second) continue;
    out << "\n" << room << ":\n";
    for (const Figure& figure : figures.found) {
      if (room_of(figure.path) != room) continue;
      out << "  " << figure.path.substr(room.size() + 1) << ": {value: " << value_text(figure)
          << ", source: " << to_string(figure.source)
          << ",\n    cite: " << yaml_quoted(by + described(figure)) << "}\n";
    }
  }
  return out.str();
}

std::string report_text(const ProbeData& data, const Figures& figures) {
  std::ostringstream out;
  out << data.device << "\n";
  for (const Figure& figure : figures.found) {
    out << "  " << std::left << std::setw(32) << figure.path << std::setw(14) << value_text(figure)
        << "  (" << described(figure) << ")\n";
  }
  for (const Observation& seen : figures.observations) {
    out << "  seen: " << seen.what << ": " << seen.value << "\n";
  }
  for (const NotVisible& missing : figures.not_visible) {
    out << "  not visible: " << missing.path << ": " << missing.reason << "\n";
  }
  for (const std::string& note : data.notes) out << "  note: " << note << "\n";
  return out.str();
}

}  // namespace fm
