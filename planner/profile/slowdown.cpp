#include "planner/profile/slowdown.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace fm {
namespace {

constexpr std::array<std::pair<OperatorClass, const char*>, 3> class_words{
    {{OperatorClass::elemental, "elemental"},
     {OperatorClass::reusable, "reusable"},
     {OperatorClass::hierarchical, "hierarchical"}}};

/// A line of the curve: from (bytes, time), rising by `slope` nanoseconds a byte.
struct Line {
  double bytes = 0, time = 0, slope = 0;
};

/// The line that holds `wanted`, where `reached` tells whether a point lies at or beyond it; else
/// the last line.
template <class Reached>
Line line_at(const SlowdownCurve& curve, const Reached& reached) {
  Line line;
  double bytes = 0, time = 0;
  for (const SlowdownPoint& point : curve) {
    const auto end_bytes = static_cast<double>(point.streamed.count());
    const auto end_time = static_cast<double>(point.extra.count());
    line = {bytes, time, (end_time - time) / (end_bytes - bytes)};
    if (reached(point)) break;
    bytes = end_bytes;
    time = end_time;
  }
  return line;
}

}  // namespace

std::string to_string(OperatorClass value) {
  for (const auto& [known, word] : class_words) {
    if (known == value) return word;
  }
  return "";
}

std::optional<OperatorClass> operator_class_named(const std::string& word) {
  for (const auto& [known, name] : class_words) {
    if (word == name) return known;
  }
  return std::nullopt;
}

OperatorClass operator_class(const std::string& kernel) {
  static const std::map<std::string, OperatorClass> classes{
      {"matmul", OperatorClass::reusable},         {"matmul_local", OperatorClass::reusable},
      {"attention", OperatorClass::reusable},      {"conv", OperatorClass::reusable},
      {"depthwise", OperatorClass::reusable},      {"transposed_conv", OperatorClass::reusable},
      {"unary", OperatorClass::elemental},         {"binary", OperatorClass::elemental},
      {"move", OperatorClass::elemental},          {"place", OperatorClass::elemental},
      {"gather", OperatorClass::elemental},        {"resize", OperatorClass::elemental},
      {"pool", OperatorClass::elemental},          {"softmax", OperatorClass::hierarchical},
      {"layer_norm", OperatorClass::hierarchical}, {"reduction", OperatorClass::hierarchical}};
  return classes.at(kernel);
}

double allowed_slowdown(OperatorClass value) {
  return value == OperatorClass::elemental ? 3.0 : value == OperatorClass::reusable ? 0.2 : 0.0;
}

Nanoseconds extra_time(const SlowdownCurve& curve, Bytes streamed) {
  const Line line =
      line_at(curve, [&](const SlowdownPoint& point) { return point.streamed >= streamed; });
  const double beyond = static_cast<double>(streamed.count()) - line.bytes;
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(line.time + line.slope * beyond)));
}

std::vector<SlowdownPoint> slowdown_points(const std::vector<SlowedTime>& points,
                                           Nanoseconds bare) {
  std::vector<SlowdownPoint> extra;
  for (const SlowedTime& point : points) {
    extra.push_back({point.streamed, std::max(point.time, bare) - bare});
  }
  return extra;
}

Nanoseconds slowed_time(const LaunchProfile& profile, Bytes streamed) {
  if (streamed == Bytes(0)) return profile.time;
  if (profile.points.empty()) return profile.time + extra_time(profile.slowdown, streamed);
  const auto number = [](auto quantity) { return static_cast<double>(quantity.count()); };
  const Nanoseconds first = std::min(profile.time, profile.points.front().time);
  double bytes = 0, time = number(first), slope = 0;
  for (const SlowedTime& point : profile.points) {
    if (point.streamed.count() <= static_cast<std::uint64_t>(bytes)) continue;
    slope = (number(point.time) - time) / (number(point.streamed) - bytes);
    if (point.streamed >= streamed) break;
    bytes = number(point.streamed);
    time = number(point.time);
  }
  const double at = time + slope * (number(streamed) - bytes);
  return Nanoseconds(static_cast<std::uint64_t>(std::llround(std::max(1.0, at))));
}

Bytes load_capacity(const LaunchProfile& profile) {
  if (profile.slowdown.empty()) return Bytes(0);
  // (1 + threshold) / (1 + margin) - 1 of the bare time.
  const double share =
      (allowed_slowdown(profile.operator_class) - profile.margin) / (1 + profile.margin);
  const double allowed = share * static_cast<double>(profile.time.count());
  if (allowed <= 0) return Bytes(0);
  const SlowdownPoint& last = profile.slowdown.back();
  if (static_cast<double>(last.extra.count()) <= allowed) return last.streamed;
  const Line line = line_at(profile.slowdown, [&](const SlowdownPoint& point) {
    return static_cast<double>(point.extra.count()) >= allowed;
  });
  return Bytes(static_cast<std::uint64_t>(line.bytes + (allowed - line.time) / line.slope));
}

}  // namespace fm
