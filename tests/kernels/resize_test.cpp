// resize against the ONNX formulas, computed with exact fractions.
#include <numeric>

#include "core/diagnostics.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

double coordinate(std::int64_t i, std::int64_t in, std::int64_t out, double scale,
                  ResizeCoordinates kind) {
  const auto x = static_cast<double>(i);
  switch (kind) {
    case ResizeCoordinates::asymmetric:
      return x / scale;
    case ResizeCoordinates::half_pixel:
      return (x + 0.5) / scale - 0.5;
    case ResizeCoordinates::pytorch_half_pixel:
      return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
    case ResizeCoordinates::align_corners:
      return out > 1 ? x * static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  }
  return 0;
}

double rounded(double x, NearestRounding rounding) {
  // Ties decide exactly: sums of halves are exact in binary, other coordinates are moved off
  // rounding noise.
  const double nearest_tie = std::round(x * 2) / 2;
  if (std::abs(x - nearest_tie) < 1e-9) x = nearest_tie;
  switch (rounding) {
    case NearestRounding::floor:
      return std::floor(x);
    case NearestRounding::ceil:
      return std::ceil(x);
    case NearestRounding::round_prefer_floor:
      return std::ceil(x - 0.5);
    case NearestRounding::round_prefer_ceil:
      return std::floor(x + 0.5);
  }
  return x;
}

struct ResizeCase {
  std::int64_t in_height, in_width, out_height, out_width;
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::asymmetric;
  NearestRounding rounding = NearestRounding::floor;
  std::array<float, 2> scales{0, 0};  ///< 0: from the sizes
};

void check_resize(ResizeCase c, const Storage& storage) {
  const Shape in{2, 6, c.in_height, c.in_width}, out{2, 6, c.out_height, c.out_width};
  SCOPED_TRACE(to_string(in) + " -> " + to_string(out) + " coordinates " +
               std::to_string(static_cast<int>(c.coordinates)) + " rounding " +
               std::to_string(static_cast<int>(c.rounding)));
  HostTensor x = random_tensor("x", Layout::channels, in, storage);
  HostTensor y = make_tensor("y", Layout::channels, out, storage);
  double scale[2];
  for (std::size_t d = 0; d < 2; ++d) {
    scale[d] = c.scales[d];
    if (c.scales[d] == 0) {
      scale[d] = static_cast<double>(out[d + 2]) / static_cast<double>(in[d + 2]);
      c.scales[d] = static_cast<float>(scale[d]);
    }
  }
  run(build_resize(x.plan, y.plan, c.mode, c.coordinates, c.rounding, c.scales), {&x, &y});
  const auto value = [&](const Shape& at, double h, double w) {
    const auto clamped = [](double v, std::int64_t size) {
      return std::min(std::max(static_cast<std::int64_t>(v), std::int64_t{0}), size - 1);
    };
    return double{x.values[flat_index(in, {at[0], at[1], clamped(h, in[2]), clamped(w, in[3])})]};
  };
  std::vector<double> expected;
  for_each_index(out, [&](const Shape& at) {
    const double h = coordinate(at[2], in[2], out[2], scale[0], c.coordinates);
    const double w = coordinate(at[3], in[3], out[3], scale[1], c.coordinates);
    if (c.mode == ResizeMode::nearest) {
      expected.push_back(value(at, rounded(h, c.rounding), rounded(w, c.rounding)));
      return;
    }
    const double h0 = std::floor(h), w0 = std::floor(w);
    const double down = h - h0, right = w - w0;
    expected.push_back(
        (1 - down) * ((1 - right) * value(at, h0, w0) + right * value(at, h0, w0 + 1)) +
        down * ((1 - right) * value(at, h0 + 1, w0) + right * value(at, h0 + 1, w0 + 1)));
  });
  expect_values(y, expected, c.mode == ResizeMode::nearest ? 0 : 1e-5);
}

TEST(Resize, TakesTheNearestForEveryCoordinateAndRounding) {
  for (const auto coordinates :
       {ResizeCoordinates::asymmetric, ResizeCoordinates::half_pixel,
        ResizeCoordinates::pytorch_half_pixel, ResizeCoordinates::align_corners}) {
    for (const auto rounding :
         {NearestRounding::floor, NearestRounding::ceil, NearestRounding::round_prefer_floor,
          NearestRounding::round_prefer_ceil}) {
      check_resize({5, 7, 10, 14, ResizeMode::nearest, coordinates, rounding, {}}, half_buffer);
      check_resize({9, 8, 5, 3, ResizeMode::nearest, coordinates, rounding, {}}, half_buffer);
    }
  }
  check_resize({5, 7, 10, 28, ResizeMode::nearest, {}, {}, {}}, half_image);
}

TEST(Resize, InterpolatesLinearly) {
  for (const auto coordinates :
       {ResizeCoordinates::asymmetric, ResizeCoordinates::half_pixel,
        ResizeCoordinates::pytorch_half_pixel, ResizeCoordinates::align_corners}) {
    check_resize({5, 7, 12, 10, ResizeMode::linear, coordinates, {}, {}}, half_buffer);
    check_resize({5, 7, 1, 3, ResizeMode::linear, coordinates, {}, {}}, half_buffer);
  }
  check_resize({5, 7, 12, 10, ResizeMode::linear, ResizeCoordinates::half_pixel, {}, {}},
               float_image);
}

TEST(Resize, FollowsGivenScalesThatTheSizesOnlyRound) {
  check_resize({5, 7, 7, 10, ResizeMode::linear, ResizeCoordinates::half_pixel, {}, {1.5f, 1.5f}},
               half_buffer);
  check_resize({5, 7, 7, 9, ResizeMode::nearest, {}, {}, {1.4f, 1.3f}}, half_buffer);
}

}  // namespace
}  // namespace fm
