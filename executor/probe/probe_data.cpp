#include "executor/probe/probe_data.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/diagnostics.hpp"
#include "core/yaml_value.hpp"
#include "executor/probe/plateaus.hpp"

namespace fm {
namespace {

using Json = nlohmann::ordered_json;

MicrobenchCurve curve_from(const std::string& name, const Json& json) {
  MicrobenchCurve curve;
  curve.name = name;
  curve.unit = json.at("unit").get<std::string>();
  for (const Json& item : json.at("points")) {
    MicrobenchPoint point;
    for (const auto& [axis, place] : item.at("axes").items()) {
      point.axes.emplace_back(axis, place.get<std::int64_t>());
    }
    point.value = item.at("value").get<double>();
    point.spread = item.value("spread", 0.0);
    if (!(point.value > 0) || !(point.spread >= 0)) {
      throw UserError("a point of " + name + " has a value that is not above 0");
    }
    curve.points.push_back(std::move(point));
  }
  if (curve.points.empty()) throw UserError("the curve " + name + " has no points");
  return curve;
}

ProbeData data_from(const Json& json) {
  ProbeData data;
  data.device = json.contains("config") ? json.at("config").get<std::string>()
                                        : json.at("device").get<std::string>();
  data.date = json.value("date", "");
  data.clock_hertz = json.at("clock_hz").get<double>();
  data.cores = json.at("cores").get<double>();
  if (!(data.clock_hertz > 0) || !(data.cores > 0)) {
    throw UserError("clock_hz and cores must be above 0");
  }
  if (json.value("order", "sequential") == "shuffled") data.order = RingOrder::shuffled;
  if (json.contains("facts")) json.at("facts").get_to(data.facts);
  if (json.contains("reference_ns")) json.at("reference_ns").get_to(data.reference_ns);
  if (json.contains("notes")) json.at("notes").get_to(data.notes);
  for (const auto& [name, curve] : json.at("curves").items()) {
    data.curves.emplace(name, curve_from(name, curve));
  }
  return data;
}

Json json_of(const MicrobenchCurve& curve) {
  Json json{{"unit", curve.unit}, {"points", Json::array()}};
  for (const MicrobenchPoint& point : curve.points) {
    Json axes = Json::object();
    for (const auto& [name, place] : point.axes) axes[name] = place;
    json["points"].push_back({{"axes", axes}, {"value", point.value}, {"spread", point.spread}});
  }
  return json;
}

}  // namespace

const MicrobenchCurve* ProbeData::curve(const std::string& name) const {
  const auto found = curves.find(name);
  return found == curves.end() ? nullptr : &found->second;
}

double drift_of(const std::vector<double>& reference_ns) {
  if (reference_ns.size() < 4) return 0;
  const auto half = reference_ns.begin() + static_cast<std::ptrdiff_t>(reference_ns.size() / 2);
  return median({half, reference_ns.end()}) / median({reference_ns.begin(), half}) - 1;
}

ProbeData read_probe_data(const std::string& path) {
  const std::string text = read_text_file(path);
  try {
    return data_from(Json::parse(text));
  } catch (const Json::exception& error) {
    throw UserError({path}, std::string("is no raw data of fmprobe, nor of fmsim microbench --json"
                                        ": ") +
                                error.what());
  } catch (const UserError& error) {
    throw UserError({path}, error.what());
  }
}

std::string to_json(const ProbeData& data) {
  Json json{{"device", data.device},
            {"date", data.date},
            {"clock_hz", data.clock_hertz},
            {"cores", data.cores},
            {"order", data.order == RingOrder::shuffled ? "shuffled" : "sequential"},
            {"facts", data.facts},
            {"drift", drift_of(data.reference_ns)},
            {"reference_ns", data.reference_ns},
            {"notes", data.notes},
            {"curves", Json::object()}};
  for (const auto& [name, curve] : data.curves) json["curves"][name] = json_of(curve);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fm
