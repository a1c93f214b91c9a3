// Convolutions of one and three dimensions, in groups or with computed filters as two-dimensional
// ones.
#include <algorithm>

#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"
#include "planner/window_dimensions.hpp"

namespace fm {
namespace {

using Attributes = Expansion::Attributes;
using Ints = Expansion::Ints;

std::int64_t rounded_up(std::int64_t value) { return (value + 3) / 4 * 4; }

/// A computed filter [O, I, Kh, Kw] in the order of texels that the kernels read, as rows; its
/// shape goes along as attribute `filter`. Of a depthwise convolution [C, 1, Kh, Kw].
TensorIndex laid_out(Expansion& e, TensorIndex filter, bool depthwise) {
  Shape s = e.shape(filter);
  const std::int64_t outputs = rounded_up(s[0]), inputs = depthwise ? 1 : rounded_up(s[1]);
  if (outputs != s[0] || inputs != s[1]) {
    filter =
        e.add("Pad", {filter}, {{"pads", Ints{0, 0, 0, 0, outputs - s[0], inputs - s[1], 0, 0}}});
  }
  const TensorIndex split = e.reshape(filter, {outputs / 4, 4, inputs, s[2], s[3]});
  if (depthwise) {
    return e.reshape(e.transpose(split, {0, 2, 3, 4, 1}), {outputs / 4, s[2] * s[3] * 4});
  }
  return e.reshape(e.transpose(split, {0, 3, 4, 2, 1}), {outputs / 4 * s[2] * s[3], inputs * 4});
}

struct Operands {
  TensorIndex x = 0, filter = 0;
  Expansion::Value bias;
};

/// A two-dimensional convolution, transposed or not, in one group or depthwise.
TensorIndex one_group(Expansion& e, const Operands& given, Attributes attributes,
                      std::int64_t groups) {
  const std::string operation = e.node.operation;
  attributes["group"] = groups;
  Expansion::Inputs inputs{given.x, given.filter};
  if (!e.is_constant(given.filter)) {
    const bool transposed = operation == "ConvTranspose";
    attributes["filter"] = e.shape(given.filter);
    const TensorIndex outputs_first =
        transposed ? e.transpose(given.filter, {1, 0, 2, 3}) : given.filter;
    inputs[1] = laid_out(e, outputs_first, groups > 1);
  }
  if (given.bias) inputs.push_back(given.bias);
  return e.add(operation, inputs, attributes);
}

/// `convolution` of each group's operands, joined.
template <class Convolution>
TensorIndex by_groups(Expansion& e, const Operands& given, std::int64_t groups,
                      const Convolution& convolution) {
  const std::int64_t channels = e.shape(given.x)[1];
  const Shape filter = e.shape(given.filter);
  const std::int64_t outputs = e.node.operation == "ConvTranspose" ? filter[1] * groups : filter[0];
  Expansion::Inputs parts;
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto part = [&](TensorIndex value, std::int64_t axis, std::int64_t extent) {
      const std::int64_t share = extent / groups;
      return e.slice(value, axis, g * share, (g + 1) * share);
    };
    Operands own{part(given.x, 1, channels), part(given.filter, 0, filter[0]), std::nullopt};
    if (given.bias) own.bias = part(*given.bias, 0, outputs);
    parts.push_back(convolution(own));
  }
  return e.add("Concat", parts, {{"axis", std::int64_t{1}}});
}

std::int64_t checked_groups(Expansion& e, const Operands& given) {
  const std::int64_t groups = attribute_int(e.node, "group", 1);
  const std::int64_t channels = e.shape(given.x)[1];
  const Shape filter = e.shape(given.filter);
  if (groups < 1 || channels % groups != 0 || filter[0] % groups != 0) {
    e.context().refuse(std::to_string(groups) + " groups do not divide " +
                       std::to_string(channels) + " channels and filter " + to_string(filter));
  }
  return groups;
}

TensorIndex two_dimensional(Expansion& e, const Operands& given, const Attributes& attributes) {
  const std::int64_t groups = checked_groups(e, given);
  const bool depthwise = e.node.operation == "Conv" && groups == e.shape(given.x)[1] &&
                         groups == e.shape(given.filter)[0];
  if (groups == 1 || depthwise) return one_group(e, given, attributes, groups);
  return by_groups(e, given, groups,
                   [&](const Operands& own) { return one_group(e, own, attributes, 1); });
}

/// Dimension `axis` with `before` and `after` zeros, or cut where these are below zero.
TensorIndex padded(Expansion& e, TensorIndex x, std::size_t axis, std::int64_t before,
                   std::int64_t after) {
  const Shape shape = e.shape(x);
  if (before < 0 || after < 0) {
    x = e.slice(x, static_cast<std::int64_t>(axis), std::max<std::int64_t>(0, -before),
                shape[axis] + std::min<std::int64_t>(0, after));
  }
  before = std::max<std::int64_t>(0, before);
  after = std::max<std::int64_t>(0, after);
  if (before == 0 && after == 0) return x;
  Ints pads(2 * shape.size(), 0);
  pads[axis] = before;
  pads[shape.size() + axis] = after;
  return e.add("Pad", {x}, {{"pads", pads}});
}

/// Slices of the depth that one output slice takes in, joined as channels: the kernel's depth
/// becomes input channels. A transposed convolution's depth is the plain one of the input with
/// zeros between its slices and the kernel turned round.
TensorIndex three_dimensional(Expansion& e, const Operands& given) {
  const bool transposed = e.node.operation == "ConvTranspose";
  if (attribute_word(e.node, "auto_pad", "NOTSET") != "NOTSET" ||
      !attribute_ints(e.node, "output_shape").empty()) {
    e.context().refuse("3-D windows are only supported with explicit pads");
  }
  const Shape f = e.shape(given.filter);
  const std::int64_t depth = f[2];
  const std::int64_t stride = attribute_ints(e.node, "strides", {1, 1, 1}).at(0);
  const std::int64_t dilation = attribute_ints(e.node, "dilations", {1, 1, 1}).at(0);
  const Ints pads = attribute_ints(e.node, "pads", {0, 0, 0, 0, 0, 0});
  const std::int64_t reach = (depth - 1) * dilation;
  TensorIndex x = given.x;
  const Shape s = e.shape(x);
  std::int64_t step = stride;
  if (transposed) {
    const std::int64_t extra = attribute_ints(e.node, "output_padding", {0, 0, 0}).at(0);
    const TensorIndex apart =
        padded(e, e.reshape(x, {s[0], s[1], s[2], 1, s[3] * s[4]}), 3, 0, stride - 1);
    x = e.reshape(apart, {s[0], s[1], s[2] * stride, s[3], s[4]});
    x = padded(e, x, 2, reach - pads.at(0), reach - pads.at(3) + extra - (stride - 1));
    step = 1;
  } else {
    x = padded(e, x, 2, pads.at(0), pads.at(3));
  }
  const std::int64_t slices = (e.shape(x)[2] - reach - 1) / step + 1;
  if (slices < 1) e.context().refuse("its window does not fit the padded input");
  Expansion::Inputs parts;
  for (std::int64_t k = 0; k < depth; ++k) {
    const TensorIndex part =
        e.slice(x, 2, k * dilation, k * dilation + (slices - 1) * step + 1, step);
    parts.push_back(
        e.reshape(e.transpose(part, {0, 2, 1, 3, 4}), {s[0] * slices, s[1], s[3], s[4]}));
  }
  Operands flat{parts.size() == 1 ? *parts[0] : e.add("Concat", parts, {{"axis", std::int64_t{1}}}),
                0, given.bias};
  if (transposed) {
    TensorIndex turned = e.transpose(given.filter, {2, 0, 1, 3, 4});
    if (depth > 1) turned = e.slice(turned, 0, depth - 1, -depth - 1, -1);
    flat.filter = e.reshape(turned, {depth * f[0], f[1], f[3], f[4]});
  } else {
    flat.filter =
        e.reshape(e.transpose(given.filter, {0, 2, 1, 3, 4}), {f[0], depth * f[1], f[3], f[4]});
  }
  const TensorIndex y = one_group(e, flat, window_of(e.node, 3, {1, 2}), 1);
  const Shape o = e.shape(y);
  return e.transpose(e.reshape(y, {s[0], slices, o[1], o[2], o[3]}), {0, 2, 1, 3, 4});
}

/// output_shape and auto_pad of a transposed convolution as pads.
bool settle_pads(Expansion& e) {
  GraphNode& node = e.node;
  const std::string automatic = attribute_word(node, "auto_pad", "NOTSET");
  Ints wanted = attribute_ints(node, "output_shape");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!same && wanted.empty()) return false;
  const Shape x = e.shape(e.input(0)), filter = e.shape(e.input(1));
  const std::size_t count = x.size() - 2;
  const Ints ones(count, 1);
  const Ints strides = attribute_ints(node, "strides", ones);
  const Ints dilations = attribute_ints(node, "dilations", ones);
  Ints extra = attribute_ints(node, "output_padding", Ints(count, 0));
  if (wanted.size() > count)
    wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(count));
  Ints pads(2 * count, 0);
  for (std::size_t d = 0; d < count; ++d) {
    const std::int64_t output = wanted.empty() ? x[2 + d] * strides.at(d) : wanted.at(d);
    const std::int64_t total = strides.at(d) * (x[2 + d] - 1) + extra.at(d) +
                               (filter.at(2 + d) - 1) * dilations.at(d) + 1 - output;
    if (total < 0) extra[d] -= total;
    const std::int64_t small = std::max<std::int64_t>(0, total) / 2;
    const std::int64_t large = std::max<std::int64_t>(0, total) - small;
    pads[d] = automatic == "SAME_UPPER" ? small : large;
    pads[count + d] = automatic == "SAME_UPPER" ? large : small;
  }
  node.attributes["pads"] = pads;
  node.attributes["output_padding"] = extra;
  node.attributes.erase("output_shape");
  node.attributes.erase("auto_pad");
  return true;
}

bool expand_convolution(Expansion& e) {
  const TensorIndex x = e.input(0), filter = e.input(1);
  const Shape shape = e.shape(x), f = e.shape(filter);
  if (shape.size() != f.size() || shape.size() < 3 || shape.size() > 5) {
    e.context().refuse("input " + to_string(shape) + " and filter " + to_string(f) +
                       ": supported are 1-D, 2-D and 3-D convolutions");
  }
  const bool transposed = e.node.operation == "ConvTranspose";
  const bool settled = transposed && settle_pads(e);
  const std::int64_t groups = attribute_int(e.node, "group", 1);
  const bool depthwise = !transposed && groups == shape[1] && groups == f[0];
  if (shape.size() == 4 && (groups == 1 || depthwise) && e.is_constant(filter)) {
    if (settled) e.give(0, e.node.operation, e.node.inputs, e.node.attributes);
    return settled;
  }
  Operands given{x, filter, e.has(2) ? e.node.inputs[2] : std::nullopt};
  if (shape.size() == 5) {
    const auto volume = [&](const Operands& own) { return three_dimensional(e, own); };
    const std::int64_t volumes = checked_groups(e, given);
    e.give(0, volumes == 1 ? volume(given) : by_groups(e, given, volumes, volume));
    return true;
  }
  if (shape.size() == 4) {
    e.give(0, two_dimensional(e, given, e.node.attributes));
    return true;
  }
  given.x = e.reshape(x, with_height(shape));
  given.filter = e.reshape(filter, with_height(f));
  const TensorIndex y = two_dimensional(e, given, window_of(e.node, 1, {-1, 0}));
  const Shape o = e.shape(y);
  e.give(0, e.reshape(y, {o[0], o[1], o[3]}));
  return true;
}

/// A factor of C that is computed along with it.
bool expand_gemm(Expansion& e) {
  const float beta = attribute_float(e.node, "beta", 1);
  if (!e.has(2) || beta == 1 || e.is_constant(e.input(2))) return false;
  Attributes attributes = e.node.attributes;
  attributes["beta"] = 1.0f;
  const TensorIndex c = e.add("Mul", {e.input(2), e.number(beta, e.type(e.input(2)))});
  e.give(0, "Gemm", {e.input(0), e.input(1), c}, attributes);
  return true;
}

}  // namespace

void add_convolution_expanders(ExpanderTable* table) {
  (*table)["Conv"] = expand_convolution;
  (*table)["ConvTranspose"] = expand_convolution;
  (*table)["Gemm"] = expand_gemm;
}

}  // namespace fm
