// Operators that rename or permute elements: reshapes, transposes, expansion, and the shapes
// themselves.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "planner/node_attributes.hpp"
#include "planner/operator_table.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

/// Every reshaping operator becomes `Reshape` with one input: the output's shape says the rest.
std::vector<TensorFacts> as_reshape(NodeContext& context, const Shape& shape) {
  if (element_count(shape) != element_count(context.shape(0))) {
    context.refuse("cannot reshape " + to_string(context.shape(0)) + " to " + to_string(shape));
  }
  context.node.operation = "Reshape";
  context.node.attributes.clear();
  context.keep_inputs(1);
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_reshape(NodeContext& context) {
  Shape shape = context.ints("shape", 1);
  const bool allow_zero = attribute_int(context.node, "allowzero", 0) != 0;
  std::int64_t known = 1;
  std::optional<std::size_t> unknown;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < -1) context.refuse("has a negative dimension");
    if (shape[d] > largest_tensor) context.refuse("has a dimension of " + std::to_string(shape[d]));
    if (shape[d] == 0 && !allow_zero) {
      if (d >= context.shape(0).size()) context.refuse("copies a dimension its input lacks");
      shape[d] = context.shape(0)[d];
    }
    if (shape[d] == -1) {
      if (unknown) context.refuse("has two dimensions of -1");
      unknown = d;
    } else if (shape[d] != 0 && known > largest_tensor / shape[d]) {
      context.refuse("cannot reshape " + to_string(context.shape(0)) + " to " + to_string(shape));
    } else {
      known *= shape[d];
    }
  }
  if (unknown) shape[*unknown] = known == 0 ? 0 : element_count(context.shape(0)) / known;
  return as_reshape(context, shape);
}

std::vector<TensorFacts> resolve_flatten(NodeContext& context) {
  const std::int64_t rank = context.rank(0);
  std::int64_t axis = attribute_int(context.node, "axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) context.refuse("axis is outside the rank");
  const Shape& shape = context.shape(0);
  const auto split = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  return as_reshape(context,
                    {element_count({shape.begin(), split}), element_count({split, shape.end()})});
}

std::vector<TensorFacts> resolve_squeeze(NodeContext& context) {
  const Shape& shape = context.shape(0);
  const std::vector<std::int64_t> axes = context.axes(context.ints("axes", 1), context.rank(0));
  const bool all = !context.has(1) && context.node.attributes.count("axes") == 0;
  Shape squeezed;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool named = std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != 0;
    if (named && shape[d] != 1)
      context.refuse("squeezes a dimension of " + std::to_string(shape[d]));
    if (!named && !(all && shape[d] == 1)) squeezed.push_back(shape[d]);
  }
  return as_reshape(context, squeezed);
}

std::vector<TensorFacts> resolve_unsqueeze(NodeContext& context) {
  const std::vector<std::int64_t> given = context.ints("axes", 1);
  const std::int64_t rank = context.rank(0) + static_cast<std::int64_t>(given.size());
  Shape shape = context.shape(0);
  for (std::int64_t axis : context.axes(given, rank)) shape.insert(shape.begin() + axis, 1);
  return as_reshape(context, shape);
}

std::vector<TensorFacts> resolve_transpose(NodeContext& context) {
  std::vector<std::int64_t> reversed(context.shape(0).size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const std::vector<std::int64_t> permutation = attribute_ints(context.node, "perm", reversed);
  if (!std::is_permutation(permutation.begin(), permutation.end(), reversed.begin(),
                           reversed.end())) {
    context.refuse("perm is no permutation of the " + std::to_string(reversed.size()) +
                   " dimensions");
  }
  context.node.attributes = {{"perm", permutation}};
  return {{context.type(0), transposed(whole_view(context.shape(0)), permutation).shape}};
}

std::vector<TensorFacts> resolve_expand(NodeContext& context) {
  const Shape wanted = context.constant_ints(1);
  for (std::int64_t extent : wanted) {
    if (extent < 0) context.refuse("has a negative dimension");
  }
  if (!is_possible(wanted)) context.refuse("cannot expand to " + to_string(wanted));
  const auto shape = broadcast_shape(context.shape(0), wanted);
  if (!shape) {
    context.refuse("cannot expand " + to_string(context.shape(0)) + " to " + to_string(wanted));
  }
  context.keep_inputs(1);
  return {{context.type(0), *shape}};
}

/// The attribute, of an input that may be split into blocks.
std::int64_t block_size(NodeContext& context) {
  if (context.rank(0) != 4) context.refuse("needs an input of rank 4");
  const std::int64_t block = attribute_int(context.node, "blocksize", 0);
  if (block < 1 || block > 1024) context.refuse("blocksize must be 1 to 1024");
  return block;
}

std::vector<TensorFacts> resolve_depth_to_space(NodeContext& context) {
  const std::int64_t block = block_size(context);
  const std::string mode = attribute_word(context.node, "mode", "DCR");
  if (mode != "DCR" && mode != "CRD") context.refuse("mode `" + mode + "` is unknown");
  const Shape& s = context.shape(0);
  if (s[1] % (block * block) != 0) {
    context.refuse(std::to_string(s[1]) + " channels are no blocks of " + std::to_string(block));
  }
  return {{context.type(0), {s[0], s[1] / (block * block), s[2] * block, s[3] * block}}};
}

std::vector<TensorFacts> resolve_space_to_depth(NodeContext& context) {
  const std::int64_t block = block_size(context);
  const Shape& s = context.shape(0);
  if (s[2] % block != 0 || s[3] % block != 0) {
    context.refuse("a map of " + to_string(s) + " is no blocks of " + std::to_string(block));
  }
  return {{context.type(0), {s[0], s[1] * block * block, s[2] / block, s[3] / block}}};
}

/// Shapes are known while planning: the importer makes these constants from `value`.
std::vector<TensorFacts> resolve_shape(NodeContext& context) {
  const Shape& shape = context.shape(0);
  const std::int64_t rank = context.rank(0);
  const auto bounded = [&](std::int64_t position) {
    return std::clamp<std::int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  const std::int64_t start = bounded(attribute_int(context.node, "start", 0));
  const std::int64_t end = std::max(start, bounded(attribute_int(context.node, "end", rank)));
  context.node.attributes["value"] = Shape(shape.begin() + start, shape.begin() + end);
  return {{ElementType::int64, {end - start}}};
}

std::vector<TensorFacts> resolve_size(NodeContext& context) {
  context.node.attributes["value"] = Shape{element_count(context.shape(0))};
  return {{ElementType::int64, {}}};
}

std::vector<TensorFacts> resolve_constant_of_shape(NodeContext& context) {
  const Shape shape = context.constant_ints(0);
  if (!is_possible(shape)) context.refuse("cannot fill the shape " + to_string(shape));
  const auto type =
      attribute_int(context.node, "value_type", static_cast<std::int64_t>(ElementType::float32));
  context.keep_inputs(0);
  return {{static_cast<ElementType>(type), shape}};
}

/// Whole numbers beyond are not exact on the device.
constexpr double longest_range = 1 << 24;

std::vector<TensorFacts> resolve_range(NodeContext& context) {
  double bounds[3];  // start, limit, delta
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.type(i) != context.type(0)) context.refuse("its inputs differ in type");
    if (is_real(context.type(i))) {
      bounds[i] = context.constant_real(i);
      continue;
    }
    const std::vector<std::int64_t> value = context.constant_ints(i);
    if (value.size() != 1) context.refuse("its inputs must be scalars");
    bounds[i] = static_cast<double>(value[0]);
  }
  const double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count <= longest_range)) {
    context.refuse("its range is longer than 2^24, or not finite");
  }
  return {{context.type(0), {static_cast<std::int64_t>(std::max(0.0, count))}}};
}

}  // namespace

void add_movement_operators(OperatorTable* table) {
  (*table)["Reshape"] = {1, 2, resolve_reshape, false};
  (*table)["Flatten"] = {1, 1, resolve_flatten, false};
  (*table)["Squeeze"] = {1, 2, resolve_squeeze, false};
  (*table)["Unsqueeze"] = {1, 2, resolve_unsqueeze, false};
  (*table)["Transpose"] = {1, 1, resolve_transpose, false};
  (*table)["DepthToSpace"] = {1, 1, resolve_depth_to_space, false};
  (*table)["SpaceToDepth"] = {1, 1, resolve_space_to_depth, false};
  (*table)["Expand"] = {2, 2, resolve_expand, false};
  (*table)["Shape"] = {1, 1, resolve_shape, false};
  (*table)["Size"] = {1, 1, resolve_size, false};
  (*table)["ConstantOfShape"] = {1, 1, resolve_constant_of_shape, true};
  (*table)["Range"] = {3, 3, resolve_range, true};
}

}  // namespace fm
