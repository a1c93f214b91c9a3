// Resize beyond height and width, nearest and linear: one axis after the other, as a product with a
// constant matrix of interpolation weights.
#include <algorithm>
#include <cmath>

#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

using Ints = Expansion::Ints;

struct ResizedAxis {
  std::int64_t input = 1, output = 1;
  double scale = 1;           ///< the resized length before it is rounded down, over the input's
  double begin = 0, end = 1;  ///< of the region of interest, as shares of the axis
};

struct Interpolation {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool exclude_outside = false;
};

double source_of(const ResizedAxis& axis, const std::string& coordinates, std::int64_t i) {
  const auto x = static_cast<double>(i);
  const auto input = static_cast<double>(axis.input), output = static_cast<double>(axis.output);
  if (coordinates == "align_corners") {
    const double resized = axis.scale * input;
    return resized == 1 ? 0 : x * (input - 1) / (resized - 1);
  }
  if (coordinates == "asymmetric") return x / axis.scale;
  if (coordinates == "pytorch_half_pixel") return output > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (coordinates == "tf_crop_and_resize") {
    return output > 1
               ? axis.begin * (input - 1) + x * (axis.end - axis.begin) * (input - 1) / (output - 1)
               : 0.5 * (axis.begin + axis.end) * (input - 1);
  }
  return (x + 0.5) / axis.scale - 0.5;
}

double rounded(double x, const std::string& nearest) {
  if (nearest == "floor") return std::floor(x);
  if (nearest == "ceil") return std::ceil(x);
  return nearest == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// Keys 1981, at distance x.
double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Weights of the inputs for output `i`.
std::vector<double> weights_of(const ResizedAxis& axis, const Interpolation& how, std::int64_t i) {
  std::vector<double> weights(static_cast<std::size_t>(axis.input), 0);
  const double x = source_of(axis, how.coordinates, i);
  const auto inside = [&](double at) {
    return static_cast<std::size_t>(std::clamp<double>(at, 0, static_cast<double>(axis.input - 1)));
  };
  if (how.mode == "nearest") {
    weights[inside(rounded(x, how.nearest))] = 1;
    return weights;
  }
  const double first = std::floor(x);
  if (how.mode == "linear") {
    weights[inside(first)] += 1 - (x - first);
    weights[inside(first + 1)] += x - first;
    return weights;
  }
  double total = 0;
  for (double at = first - 1; at <= first + 2; ++at) {
    const bool outside = at < 0 || at >= static_cast<double>(axis.input);
    if (outside && how.exclude_outside) continue;
    const double weight = cubic_weight(x - at, how.cubic);
    weights[inside(at)] += weight;
    total += weight;
  }
  for (double& weight : weights) weight /= how.exclude_outside ? total : 1;
  return weights;
}

/// Row-major [input, output].
TensorIndex weight_matrix(Expansion& e, const ResizedAxis& axis, const Interpolation& how) {
  std::vector<float> values(static_cast<std::size_t>(axis.input * axis.output));
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const std::vector<double> weights = weights_of(axis, how, i);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      values[j * static_cast<std::size_t>(axis.output) + static_cast<std::size_t>(i)] =
          static_cast<float>(weights[j]);
    }
  }
  return e.reals({axis.input, axis.output}, std::move(values));
}

TensorIndex along_axis(Expansion& e, TensorIndex x, std::size_t d, const ResizedAxis& axis,
                       const Interpolation& how) {
  e.check_constant({axis.input, axis.output});
  const std::size_t rank = e.shape(x).size();
  Ints order, back(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != d) order.push_back(static_cast<std::int64_t>(i));
  }
  order.push_back(static_cast<std::int64_t>(d));
  for (std::size_t i = 0; i < rank; ++i) {
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  if (how.mode != "nearest") {
    const TensorIndex moved = e.transpose(x, order);
    return e.transpose(e.add("MatMul", {moved, weight_matrix(e, axis, how)}), back);
  }
  Ints positions;
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const std::vector<double> weights = weights_of(axis, how, i);
    positions.push_back(std::max_element(weights.begin(), weights.end()) - weights.begin());
  }
  return e.add("Gather", {x, e.integers({axis.output}, positions)},
               {{"axis", static_cast<std::int64_t>(d)}});
}

constexpr float largest_scale = 1 << 20;

std::vector<ResizedAxis> resized_axes(Expansion& e) {
  NodeContext context = e.context();
  const Shape shape = e.shape(e.input(0));
  const bool old = e.node.operation == "Upsample" || e.opset() < 11;
  const std::size_t slot = old ? 1 : 2;
  std::vector<float> scales, roi;
  if (const auto given = e.node.attributes.find("scales"); given != e.node.attributes.end()) {
    if (const auto* values = std::get_if<std::vector<float>>(&given->second)) scales = *values;
  }
  if (e.has(slot)) scales = context.constant_reals(slot);
  if (!old && e.has(1)) roi = context.constant_reals(1);
  const Ints sizes = scales.empty() && !old && e.has(3) ? context.constant_ints(3) : Ints{};
  if (std::max(scales.size(), sizes.size()) != shape.size()) {
    context.refuse("needs scales or sizes for each dimension");
  }
  std::vector<ResizedAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!sizes.empty() ? sizes[d] > largest_tensor
                       : !(scales[d] > 0 && scales[d] <= largest_scale)) {
      context.refuse("cannot resize by such scales or sizes");
    }
    ResizedAxis axis;
    axis.input = shape[d];
    axis.output =
        sizes.empty()
            ? static_cast<std::int64_t>(std::floor(static_cast<float>(shape[d]) * scales[d]))
            : sizes[d];
    axis.scale = sizes.empty() ? static_cast<double>(scales[d])
                               : static_cast<double>(sizes[d]) / static_cast<double>(shape[d]);
    if (shape[d] < 1) context.refuse("its input has no elements");
    if (roi.size() == 2 * shape.size()) {
      for (const float edge : {roi[d], roi[shape.size() + d]}) {
        if (!(std::abs(edge) <= largest_scale)) context.refuse("cannot crop to such a region");
      }
      axis.begin = roi[d];
      axis.end = roi[shape.size() + d];
    }
    if (axis.output < 1) context.refuse("its result has no elements");
    axes.push_back(axis);
  }
  return axes;
}

/// 1 where an output lies outside the input along some axis.
TensorIndex outside_of(Expansion& e, const std::vector<ResizedAxis>& axes,
                       const Interpolation& how) {
  std::optional<TensorIndex> outside;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    Shape shape(axes.size(), 1);
    shape[d] = axes[d].output;
    Ints flags;
    for (std::int64_t i = 0; i < axes[d].output; ++i) {
      const double x = source_of(axes[d], how.coordinates, i);
      flags.push_back(x < 0 || x > static_cast<double>(axes[d].input - 1) ? 1 : 0);
    }
    const TensorIndex own = e.integers(shape, flags, ElementType::boolean);
    outside = outside ? e.add("Or", {*outside, own}) : own;
  }
  return outside.value();
}

bool kernel_serves(const Shape& shape, const std::vector<ResizedAxis>& axes,
                   const Interpolation& how) {
  const bool known = how.coordinates == "asymmetric" || how.coordinates == "half_pixel" ||
                     how.coordinates == "pytorch_half_pixel" || how.coordinates == "align_corners";
  // Corners are aligned by the resized length before rounding, as ONNX's reference does.
  const bool whole = std::all_of(axes.begin(), axes.end(), [](const ResizedAxis& axis) {
    return std::abs(axis.scale * static_cast<double>(axis.input) -
                    static_cast<double>(axis.output)) < 1e-3;
  });
  return shape.size() == 4 && axes[0].input == axes[0].output && axes[1].input == axes[1].output &&
         (how.mode == "nearest" || how.mode == "linear") && known &&
         (whole || how.coordinates != "align_corners");
}

bool expand_resize(Expansion& e) {
  const bool old = e.node.operation == "Upsample" || e.opset() < 11;
  const Interpolation how = {
      attribute_word(e.node, "mode", "nearest"),
      attribute_word(e.node, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
      attribute_word(e.node, "nearest_mode", old ? "floor" : "round_prefer_floor"),
      attribute_float(e.node, "cubic_coeff_a", -0.75f),
      attribute_int(e.node, "exclude_outside", 0) != 0};
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic") {
    e.context().refuse("mode `" + how.mode + "` is not supported");
  }
  const std::vector<ResizedAxis> axes = resized_axes(e);
  if (kernel_serves(e.shape(e.input(0)), axes, how)) return false;
  TensorIndex x = e.input(0);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const bool cropped =
        how.coordinates == "tf_crop_and_resize" && (axes[d].begin != 0 || axes[d].end != 1);
    if (axes[d].input == axes[d].output && axes[d].scale == 1 && !cropped) continue;
    x = along_axis(e, x, d, axes[d], how);
  }
  if (how.coordinates == "tf_crop_and_resize") {
    const float fill = attribute_float(e.node, "extrapolation_value", 0);
    x = e.add("Where", {outside_of(e, axes, how), e.number(fill, e.type(x)), x});
  }
  e.give(0, x);
  return true;
}

}  // namespace

void add_resize_expanders(ExpanderTable* table) {
  (*table)["Resize"] = expand_resize;
  (*table)["Upsample"] = expand_resize;
}

}  // namespace fm
