// Operators that repeat, pad, pick or place elements.
#include <algorithm>

#include "planner/evaluate.hpp"
#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

using Ints = Expansion::Ints;

bool expand_tile(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Shape shape = e.shape(x);
  const Ints repeats = e.context().constant_ints(1);
  if (repeats.size() != shape.size()) e.context().refuse("needs one number of repeats a dimension");
  Shape apart, wide, joined;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (repeats[d] < 1) e.context().refuse("its result has no elements");
    if (repeats[d] > largest_tensor / std::max<std::int64_t>(shape[d], 1)) {
      e.context().refuse("repeats " + std::to_string(shape[d]) + " elements " +
                         std::to_string(repeats[d]) + " times");
    }
    if (repeats[d] != 1) {
      apart.push_back(1);
      wide.push_back(repeats[d]);
    }
    apart.push_back(shape[d]);
    wide.push_back(shape[d]);
    joined.push_back(shape[d] * repeats[d]);
  }
  const auto rank = static_cast<std::int64_t>(wide.size());
  const TensorIndex repeated = e.add("Expand", {e.reshape(x, apart), e.integers({rank}, wide)});
  e.give(0, e.reshape(repeated, joined));
  return true;
}

/// The reflection without the edge, or the edge repeated.
TensorIndex border(Expansion& e, TensorIndex x, std::int64_t axis, std::int64_t count, bool front,
                   bool reflect) {
  const std::int64_t extent = e.shape(x)[static_cast<std::size_t>(axis)];
  if (!reflect) {
    const std::int64_t at = front ? 0 : extent - 1;
    Shape shape = e.shape(x);
    shape[static_cast<std::size_t>(axis)] = count;
    return e.add("Expand", {e.slice(x, axis, at, at + 1),
                            e.integers({static_cast<std::int64_t>(shape.size())}, shape)});
  }
  if (count >= extent) e.context().refuse("reflects more than its dimension has");
  const std::int64_t start = front ? count : extent - 2;
  const std::int64_t end = start - count;  // an end of -1 would count from the end
  return e.slice(x, axis, start, end < 0 ? -extent - 1 : end, -1);
}

/// Modes other than constant, and pads below zero, which cut.
bool expand_pad(Expansion& e) {
  NodeContext context = e.context();
  const std::string mode = attribute_word(e.node, "mode", "constant");
  Ints pads = context.ints("pads", 1, attribute_ints(e.node, "paddings"));
  const bool cuts = std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p < 0; });
  if (mode == "constant" && !cuts && e.node.attributes.count("paddings") == 0) return false;
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    context.refuse("mode `" + mode + "` is unknown");
  }
  TensorIndex x = e.input(0);
  const std::size_t rank = e.shape(x).size();
  if (pads.size() != 2 * rank) context.refuse("pads must hold two numbers a dimension");
  for (const std::int64_t pad : pads) {
    if (pad > largest_tensor || pad < -largest_tensor) {
      context.refuse("cannot pad by " + std::to_string(pad));
    }
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    const std::int64_t before = std::min<std::int64_t>(pads[d], 0);
    const std::int64_t after = std::min<std::int64_t>(pads[rank + d], 0);
    const std::int64_t extent = e.shape(x)[d];
    if (before < 0 || after < 0) x = e.slice(x, axis, -before, extent + after);
    pads[d] -= before;
    pads[rank + d] -= after;
    if (mode == "constant") continue;
    Expansion::Inputs parts;
    if (pads[d] > 0) parts.push_back(border(e, x, axis, pads[d], true, mode == "reflect"));
    parts.push_back(x);
    if (pads[rank + d] > 0)
      parts.push_back(border(e, x, axis, pads[rank + d], false, mode == "reflect"));
    if (parts.size() > 1) x = e.add("Concat", parts, {{"axis", axis}});
  }
  if (mode != "constant") {
    e.give(0, x);
    return true;
  }
  Expansion::Attributes attributes = {{"pads", pads},
                                      {"value", attribute_float(e.node, "value", 0)}};
  Expansion::Inputs inputs{x};
  if (e.has(2)) inputs = {x, std::nullopt, e.node.inputs[2]};
  e.give(0, "Pad", inputs, attributes);
  return true;
}

/// Numbers below zero count from the end.
TensorIndex wrapped(Expansion& e, TensorIndex index, TensorIndex extents) {
  const TensorIndex below = e.add("Less", {index, e.number(0, e.type(index))});
  return e.add("Where", {below, e.add("Add", {index, extents}), index});
}

void require_same_rank(Expansion& e, const Shape& indices, const Shape& data) {
  if (indices.size() == data.size()) return;
  e.context().refuse("indices of " + to_string(indices) + " do not fit " + to_string(data));
}

bool expand_gather_elements(Expansion& e) {
  TensorIndex data = e.input(0);
  const Shape picks = e.shape(e.input(1));
  require_same_rank(e, picks, e.shape(data));
  const auto rank = static_cast<std::int64_t>(picks.size());
  const std::int64_t axis = e.context().axis(attribute_int(e.node, "axis", 0), rank);
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t extent = picks[static_cast<std::size_t>(d)];
    const std::int64_t given = e.shape(data)[static_cast<std::size_t>(d)];
    if (d != axis && extent > given) {
      e.context().refuse("its indices reach over dimension " + std::to_string(d));
    }
    if (d != axis && given != extent) {
      data = e.slice(data, d, 0, extent);
    }
  }
  e.give(0, "GatherElements", {data, e.input(1)}, {{"axis", axis}});
  return true;
}

/// Updates that do not reach over the other dimensions are padded with an index of no place.
bool expand_scatter_elements(Expansion& e) {
  const Shape whole = e.shape(e.input(0)), part = e.shape(e.input(1));
  require_same_rank(e, part, whole);
  if (e.shape(e.input(2)) != part) {
    e.context().refuse("updates of " + to_string(e.shape(e.input(2))) + " do not fit indices of " +
                       to_string(part));
  }
  const auto rank = static_cast<std::int64_t>(whole.size());
  const std::int64_t axis = e.context().axis(attribute_int(e.node, "axis", 0), rank);
  Ints pads(2 * whole.size(), 0);
  bool padded = false;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (static_cast<std::int64_t>(d) == axis) continue;
    pads[whole.size() + d] = whole[d] - part[d];
    padded = padded || whole[d] != part[d];
  }
  TensorIndex indices = e.input(1), updates = e.input(2);
  if (padded) {
    const auto extent = static_cast<float>(whole[static_cast<std::size_t>(axis)]);
    indices = e.add("Pad", {indices}, {{"pads", pads}, {"value", extent}});
    updates = e.add("Pad", {updates}, {{"pads", pads}});
  }
  e.give(0, "ScatterElements", {e.input(0), indices, updates},
         {{"axis", axis}, {"reduction", attribute_word(e.node, "reduction", "none")}});
  return true;
}

/// Rows of indices [.., k] into the first k of `extents` as positions in their row-major order.
TensorIndex flat_positions(Expansion& e, TensorIndex indices, const Shape& extents) {
  const auto k = static_cast<std::int64_t>(extents.size());
  Ints strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  const ElementType type = e.type(indices);
  const TensorIndex inside = wrapped(e, indices, e.integers({k}, extents, type));
  const TensorIndex steps = e.add("Mul", {inside, e.integers({k}, strides, type)});
  return e.add("ReduceSum", {steps}, {{"axes", Ints{-1}}, {"keepdims", std::int64_t{0}}});
}

/// Of GatherND and ScatterND: refuses what has no elements, as sizes are divided by such products.
void require_elements(Expansion& e, const Shape& data, const Shape& indices) {
  if (element_count(data) != 0 && element_count(indices) != 0) return;
  e.context().refuse("indices of " + to_string(indices) + " into " + to_string(data) +
                     ": its result has no elements");
}

Shape first_of(const Shape& shape, std::size_t begin, std::size_t end) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(begin),
          shape.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool expand_gather_nd(Expansion& e) {
  const TensorIndex data = e.input(0), indices = e.input(1);
  const Shape shape = e.shape(data), picks = e.shape(indices);
  const auto batches = static_cast<std::size_t>(attribute_int(e.node, "batch_dims", 0));
  const auto depth = picks.empty() ? 0 : static_cast<std::size_t>(picks.back());
  if (batches >= picks.size() || batches >= shape.size() || depth == 0 ||
      depth > shape.size() - batches) {
    e.context().refuse("indices of " + to_string(picks) + " do not fit " + to_string(shape));
  }
  require_elements(e, shape, picks);
  const Shape chosen = first_of(shape, batches, batches + depth);
  const Shape batch = first_of(shape, 0, batches);
  TensorIndex flat = flat_positions(e, indices, chosen);
  const std::int64_t count = element_count(batch);
  flat = e.reshape(flat, {count, element_count(picks) / (count * picks.back())});
  if (count > 1) {
    const TensorIndex starts =
        e.add("Mul", {e.counting(count, 0, 2, e.type(flat)),
                      e.number(static_cast<double>(element_count(chosen)), e.type(flat))});
    flat = e.add("Add", {flat, starts});
  }
  const std::int64_t rows = count * element_count(chosen);
  const std::int64_t inner = element_count(shape) / rows;
  const TensorIndex taken = e.add(
      "Gather", {e.reshape(data, {rows, inner}), e.reshape(flat, {element_count(e.shape(flat))})});
  Shape result = first_of(picks, 0, picks.size() - 1);
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(batches + depth),
                shape.end());
  e.give(0, e.reshape(taken, result));
  return true;
}

bool expand_scatter_nd(Expansion& e) {
  const Shape shape = e.shape(e.input(0)), picks = e.shape(e.input(1));
  const auto depth = picks.empty() ? 0 : static_cast<std::size_t>(picks.back());
  if (depth == 0 || depth > shape.size()) {
    e.context().refuse("indices of " + to_string(picks) + " do not fit " + to_string(shape));
  }
  require_elements(e, shape, picks);
  const Shape chosen = first_of(shape, 0, depth);
  const std::int64_t rows = element_count(chosen), inner = element_count(shape) / rows;
  const std::int64_t count = element_count(picks) / picks.back();
  const TensorIndex flat = e.reshape(flat_positions(e, e.input(1), chosen), {count});
  const TensorIndex placed = e.add(
      "ScatterElements",
      {e.reshape(e.input(0), {rows, inner}), flat, e.reshape(e.input(2), {count, inner})},
      {{"axis", std::int64_t{0}}, {"reduction", attribute_word(e.node, "reduction", "none")}});
  e.give(0, e.reshape(placed, shape));
  return true;
}

bool expand_one_hot(Expansion& e) {
  NodeContext context = e.context();
  const TensorIndex depth_input = e.input(1), values = e.input(2);
  const TensorIndex indices = is_real(e.type(e.input(0)))
                                  ? e.add("Cast", {e.input(0)}, {{"to", std::int64_t{7}}})
                                  : e.input(0);
  const Ints depths = is_real(e.type(depth_input)) ? Ints{integer_from(context.constant_real(1))}
                                                   : context.constant_ints(1);
  if (depths.size() != 1 || depths[0] < 1) context.refuse("its depth must be one positive number");
  Shape shape = e.shape(indices);
  const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
  const std::int64_t axis = context.axis(attribute_int(e.node, "axis", -1), rank);
  shape.insert(shape.begin() + axis, 1);
  const ElementType type = e.type(indices);
  const TensorIndex at =
      wrapped(e, e.reshape(indices, shape), e.number(static_cast<double>(depths[0]), type));
  const TensorIndex hit = e.add("Equal", {e.counting(depths[0], axis, rank, type), at});
  const TensorIndex on = e.reshape(e.slice(values, 0, 1, 2), {});
  const TensorIndex off = e.reshape(e.slice(values, 0, 0, 1), {});
  e.give(0, "Where", {hit, on, off});
  return true;
}

bool expand_trilu(Expansion& e) {
  const Shape shape = e.shape(e.input(0));
  if (shape.size() < 2) e.context().refuse("needs matrices");
  const std::int64_t k = e.has(1) ? e.context().constant_int(1) : 0;
  const bool upper = attribute_int(e.node, "upper", 1) != 0;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  e.check_constant({rows, columns});
  Ints keep;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) keep.push_back(upper ? j - i >= k : j - i <= k);
  }
  e.give(0, "Where",
         {e.integers({rows, columns}, keep, ElementType::boolean), e.input(0),
          e.number(0, e.type(e.input(0)))});
  return true;
}

bool expand_eye_like(Expansion& e) {
  const Shape shape = e.shape(e.input(0));
  if (shape.size() != 2) e.context().refuse("needs a matrix");
  e.check_constant(shape);
  const std::int64_t k = attribute_int(e.node, "k", 0);
  Ints ones;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) ones.push_back(j - i == k);
  }
  const std::int64_t own = e.type(e.input(0)) == ElementType::int32   ? 6
                           : e.type(e.input(0)) == ElementType::int64 ? 7
                                                                      : 1;
  e.give(0, "Cast", {e.integers(shape, ones)}, {{"to", attribute_int(e.node, "dtype", own)}});
  return true;
}

/// Position t of sequence b comes from length - 1 - t, or itself behind the sequence's end.
bool expand_reverse_sequence(Expansion& e) {
  const TensorIndex x = e.input(0), lengths = e.input(1);
  const Shape shape = e.shape(x);
  const std::int64_t time = attribute_int(e.node, "time_axis", 0);
  const std::int64_t batch = attribute_int(e.node, "batch_axis", 1);
  if (shape.size() < 2 || !((time == 0 && batch == 1) || (time == 1 && batch == 0))) {
    e.context().refuse("time_axis and batch_axis must be 0 and 1");
  }
  if (element_count(shape) == 0) e.context().refuse("its result has no elements");
  const std::int64_t steps = shape[static_cast<std::size_t>(time)];
  const std::int64_t count = shape[static_cast<std::size_t>(batch)];
  const ElementType type = e.type(lengths);
  Shape by_batch = {1, 1};
  by_batch[static_cast<std::size_t>(batch)] = count;
  const TensorIndex ends = e.reshape(lengths, by_batch);
  const TensorIndex t = e.counting(steps, time, 2, type);
  const TensorIndex back = e.add("Sub", {e.add("Sub", {ends, e.number(1, type)}), t});
  const TensorIndex from = e.add("Where", {e.add("Less", {t, ends}), back, t});
  const std::int64_t time_stride = time == 0 ? count : 1, batch_stride = time == 0 ? 1 : steps;
  const TensorIndex flat =
      e.add("Add", {e.add("Mul", {from, e.number(static_cast<double>(time_stride), type)}),
                    e.add("Mul", {e.counting(count, batch, 2, type),
                                  e.number(static_cast<double>(batch_stride), type)})});
  const std::int64_t rows = steps * count;
  const TensorIndex taken =
      e.add("Gather", {e.reshape(x, {rows, element_count(shape) / rows}), e.reshape(flat, {rows})});
  e.give(0, e.reshape(taken, shape));
  return true;
}

}  // namespace

void add_selection_expanders(ExpanderTable* table) {
  (*table)["Tile"] = expand_tile;
  (*table)["Pad"] = expand_pad;
  (*table)["GatherElements"] = expand_gather_elements;
  (*table)["ScatterElements"] = expand_scatter_elements;
  (*table)["Scatter"] = expand_scatter_elements;
  (*table)["GatherND"] = expand_gather_nd;
  (*table)["ScatterND"] = expand_scatter_nd;
  (*table)["OneHot"] = expand_one_hot;
  (*table)["Trilu"] = expand_trilu;
  (*table)["EyeLike"] = expand_eye_like;
  (*table)["ReverseSequence"] = expand_reverse_sequence;
}

}  // namespace fm
