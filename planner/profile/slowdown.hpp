#pragma once
// What a launch costs, bare and with bytes streamed inside it.

#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace fm {

/// How a kernel takes extra loads (FlashMem, arXiv 2602.15379, table 5).
enum class OperatorClass {
  elemental,    ///< activations, additions, moves: short, may become four times as long
  reusable,     ///< matrix products and convolutions: long, may become a fifth longer
  hierarchical  ///< softmax, normalisation, reductions: never carries streams
};
std::string to_string(OperatorClass value);
std::optional<OperatorClass> operator_class_named(const std::string& word);
/// Of a catalogue kernel. Throws std::out_of_range for a kernel that the catalogue lacks.
OperatorClass operator_class(const std::string& kernel);

/// Extra time of a launch by bytes streamed inside it: convex, piecewise linear, 0 at 0.
struct SlowdownPoint {
  Bytes streamed;
  Nanoseconds extra;
};
/// By `streamed`, ascending; the origin is left out. Empty: the launch cannot stream.
using SlowdownCurve = std::vector<SlowdownPoint>;

/// A launch's time with bytes streamed inside it. It may be below the bare launch's: the streaming
/// form of a kernel has its work-items wait at other places.
struct SlowedTime {
  Bytes streamed;
  Nanoseconds time;
};

struct LaunchProfile {
  OperatorClass operator_class = OperatorClass::hierarchical;
  Nanoseconds time;  ///< of the bare launch
  SlowdownCurve slowdown;
  std::vector<SlowedTime> points = {};  ///< as measured or learnt, by `streamed`, ascending
  double margin = 0;  ///< share by which slowed times may be longer (capacity_margin.hpp)
};

/// Points of a launch that takes `bare` without streams; 0 for those below it.
std::vector<SlowdownPoint> slowdown_points(const std::vector<SlowedTime>& points, Nanoseconds bare);
/// The best guess of a launch's time with `streamed` bytes inside: on lines through its points, not
/// on the convex curve that plans are made with. Before the first point: on the line from the bare
/// time, or at the point when it lies below that. Without points: by the curve.
Nanoseconds slowed_time(const LaunchProfile& profile, Bytes streamed);

/// Allowed extra time as a share of the bare launch: 3, 0.2 and 0.
double allowed_slowdown(OperatorClass value);
/// The curve at `streamed`; beyond its last point along its last line.
Nanoseconds extra_time(const SlowdownCurve& curve, Bytes streamed);
/// Load capacity: most bytes whose slowed time, longer by the margin, stays within the class's
/// threshold, as far as the curve goes: beyond it a convex curve may rise faster than its last
/// line. 0 for a launch that cannot stream, or whose threshold the margin takes whole.
Bytes load_capacity(const LaunchProfile& profile);

}  // namespace fm
