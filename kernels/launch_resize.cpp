// build_resize: coordinates as exact fractions, so that nearest neighbours never hang on a
// rounding.
#include <cmath>
#include <numeric>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"

namespace fm {
namespace {

/// numerator / denominator of a scale: output / input size when that is what it says, else the
/// simplest fraction within fp32 precision (continued fractions).
struct Fraction {
  std::int64_t numerator = 1, denominator = 1;
};

Fraction fraction_of(float scale, std::int64_t in, std::int64_t out) {
  if (std::abs(scale * static_cast<float>(in) - static_cast<float>(out)) <
      1e-4f * static_cast<float>(out)) {
    const std::int64_t divisor = std::gcd(in, out);
    return {out / divisor, in / divisor};
  }
  double rest = scale;
  std::int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  for (int term = 0; term < 20; ++term) {
    const auto whole = static_cast<std::int64_t>(std::floor(rest));
    const std::int64_t p = whole * p1 + p0, q = whole * q1 + q0;
    if (q > 10000) break;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    if (std::abs(static_cast<double>(p) / static_cast<double>(q) - scale) < 1e-7 * scale) break;
    rest = 1 / (rest - static_cast<double>(whole));
  }
  return {p1, q1};
}

/// Input coordinate of output i: (scale * i + start) / divisor.
struct Coordinates {
  std::int64_t scale = 1, start = 0, divisor = 1;
};

Coordinates coordinates_of(std::int64_t in, std::int64_t out, float factor,
                           ResizeCoordinates kind) {
  if (kind == ResizeCoordinates::align_corners) {
    return out == 1 ? Coordinates{0, 0, 1} : Coordinates{in - 1, 0, out - 1};
  }
  const Fraction f = fraction_of(factor, in, out);  // coordinate = i * denominator / numerator
  if (kind == ResizeCoordinates::asymmetric) return {f.denominator, 0, f.numerator};
  if (kind == ResizeCoordinates::pytorch_half_pixel && out == 1) return {0, 0, 1};
  return {2 * f.denominator, f.denominator - f.numerator, 2 * f.numerator};
}

/// So that the floor of the new coordinate is the rounding of the old one.
Coordinates rounded(Coordinates c, NearestRounding rounding) {
  switch (rounding) {
    case NearestRounding::floor:
      return c;
    case NearestRounding::ceil:
      return {c.scale, c.start + c.divisor - 1, c.divisor};
    case NearestRounding::round_prefer_floor:  // ceil(coordinate - 1/2)
      return {2 * c.scale, 2 * c.start + c.divisor - 1, 2 * c.divisor};
    case NearestRounding::round_prefer_ceil:
      return {2 * c.scale, 2 * c.start + c.divisor, 2 * c.divisor};
  }
  throw std::logic_error("unknown rounding");
}

void set_axis(LaunchDraft& draft, const std::string& suffix, Coordinates c) {
  // The kernel divides non-negative numbers only.
  const std::int64_t shift = c.start < 0 ? divided_up(-c.start, c.divisor) : 0;
  draft.integer("scale_" + suffix, c.scale).integer("start_" + suffix, c.start + shift * c.divisor);
  draft.integer("divisor_" + suffix, c.divisor).integer("shift_" + suffix, shift);
}

}  // namespace

PlanLaunch build_resize(const PlanTensor& x_tensor, const PlanTensor& y_tensor, ResizeMode mode,
                        ResizeCoordinates coordinates, NearestRounding rounding,
                        std::array<float, 2> scales) {
  const ChannelsView x = channels_view(x_tensor), y = channels_view(y_tensor);
  require_operand(
      x.batch == y.batch && x.channels == y.channels, "Resize",
      "only H and W can be resized, not " + describe(x_tensor) + " to " + describe(y_tensor));
  Coordinates h = coordinates_of(x.height, y.height, scales[0], coordinates);
  Coordinates w = coordinates_of(x.width, y.width, scales[1], coordinates);
  if (mode == ResizeMode::nearest) {
    h = rounded(h, rounding);
    w = rounded(w, rounding);
  }
  LaunchDraft draft("resize");
  draft.tensor("x", x_tensor).tensor("y", y_tensor).integer("channels", y.channels);
  draft.integer("in_height", x.height).integer("in_width", x.width);
  draft.integer("out_height", y.height).integer("out_width", y.width);
  draft.integer("out_rows", y.batch * y.height);
  draft.parameter("MODE", mode == ResizeMode::nearest ? "NEAREST" : "LINEAR");
  set_axis(draft, "h", h);
  set_axis(draft, "w", w);
  const std::array<std::int64_t, 3> extent{y.width, y.batch * y.height, y.channels4};
  return draft.finish(extent, choose_local(extent));
}

}  // namespace fm
