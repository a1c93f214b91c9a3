// Reductions made of others, positions of extremes, and what follows from them.
#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

using Attributes = Expansion::Attributes;
using Ints = Expansion::Ints;

/// The node's own axes and keepdims, for a reduction that takes part in it.
Attributes reduction_attributes(Expansion& e, bool keep) {
  Attributes attributes = e.node.attributes;
  if (e.has(1)) attributes["axes"] = e.context().constant_ints(1);
  if (keep) attributes["keepdims"] = std::int64_t{1};
  return attributes;
}

bool expand_l1(Expansion& e) {
  e.give(0, "ReduceSum", {e.add("Abs", {e.input(0)})}, reduction_attributes(e, false));
  return true;
}

bool expand_log_sum(Expansion& e) {
  e.give(0, "Log", {e.add("ReduceSum", {e.input(0)}, reduction_attributes(e, false))});
  return true;
}

/// m + log(sum(exp(x - m))) with m the largest: exponentials of large numbers do not overflow.
bool expand_log_sum_exp(Expansion& e) {
  const TensorIndex x = e.input(0);
  const TensorIndex largest = e.add("ReduceMax", {x}, reduction_attributes(e, true));
  const TensorIndex powers = e.add("Exp", {e.add("Sub", {x, largest})});
  const TensorIndex sum = e.add("ReduceSum", {powers}, reduction_attributes(e, false));
  const TensorIndex shift = e.reshape(largest, e.shape(sum));
  e.give(0, "Add", {e.add("Log", {sum}), shift});
  return true;
}

/// Position of the first (or last) extreme along `axis`, which stays with extent 1.
TensorIndex position_of_extreme(Expansion& e, TensorIndex x, std::int64_t axis, bool largest,
                                bool last) {
  const Shape shape = e.shape(x);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  const Attributes along = {{"axes", Ints{axis}}, {"keepdims", std::int64_t{1}}};
  const TensorIndex extreme = e.add(largest ? "ReduceMax" : "ReduceMin", {x}, along);
  const TensorIndex places = e.counting(extent, axis, rank, ElementType::int64);
  const TensorIndex otherwise =
      e.number(last ? -1 : static_cast<double>(extent), ElementType::int64);
  const TensorIndex found = e.add("Where", {e.add("Equal", {x, extreme}), places, otherwise});
  return e.add(last ? "ReduceMax" : "ReduceMin", {found}, along);
}

bool expand_arg(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Shape shape = e.shape(x);
  const std::int64_t axis =
      e.context().axis(attribute_int(e.node, "axis", 0), static_cast<std::int64_t>(shape.size()));
  const TensorIndex found = position_of_extreme(e, x, axis, e.node.operation == "ArgMax",
                                                attribute_int(e.node, "select_last_index", 0) != 0);
  Shape reduced = e.shape(found);
  if (attribute_int(e.node, "keepdims", 1) == 0) reduced.erase(reduced.begin() + axis);
  e.give(0, e.reshape(found, reduced));
  return true;
}

/// Operators that before opset 13 took all dimensions from the axis on together.
struct Flattened {
  TensorIndex value;
  std::int64_t axis;
};
Flattened flattened(Expansion& e) {
  const TensorIndex x = e.input(0);
  const Shape shape = e.shape(x);
  const std::int64_t axis = e.context().axis(attribute_int(e.node, "axis", e.opset() < 13 ? 1 : -1),
                                             static_cast<std::int64_t>(shape.size()));
  if (e.opset() >= 13) return {x, axis};
  const auto split = shape.begin() + axis;
  return {
      e.reshape(x, {element_count({shape.begin(), split}), element_count({split, shape.end()})}),
      1};
}

bool expand_hardmax(Expansion& e) {
  const auto [x, axis] = flattened(e);
  const auto rank = static_cast<std::int64_t>(e.shape(x).size());
  const TensorIndex places =
      e.counting(e.shape(x)[static_cast<std::size_t>(axis)], axis, rank, ElementType::int64);
  const TensorIndex hit = e.add("Equal", {places, position_of_extreme(e, x, axis, true, false)});
  const TensorIndex ones = e.add("Where", {hit, e.number(1, e.type(x)), e.number(0, e.type(x))});
  e.give(0, e.reshape(ones, e.shape(e.input(0))));
  return true;
}

bool expand_log_softmax(Expansion& e) {
  const auto [x, axis] = flattened(e);
  const Attributes along = {{"axes", Ints{axis}}, {"keepdims", std::int64_t{1}}};
  const TensorIndex centred = e.add("Sub", {x, e.add("ReduceMax", {x}, along)});
  const TensorIndex sum = e.add("ReduceSum", {e.add("Exp", {centred})}, along);
  const TensorIndex logs = e.add("Sub", {centred, e.add("Log", {sum})});
  e.give(0, e.reshape(logs, e.shape(e.input(0))));
  return true;
}

/// The most numbers along the axis of TopK, whose pairs are compared.
constexpr std::int64_t largest_sorted = 2048;

/// An element's rank is how many others come before it; the k elements of the lowest ranks are
/// picked from their line.
bool expand_top_k(Expansion& e) {
  NodeContext context = e.context();
  const TensorIndex x = e.input(0);
  const auto rank = static_cast<std::int64_t>(e.shape(x).size());
  const std::int64_t axis = context.axis(attribute_int(e.node, "axis", -1), rank);
  const std::int64_t k = e.has(1) ? context.constant_int(1) : attribute_int(e.node, "k", 0);
  Ints order;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  Shape line(e.shape(e.transpose(x, order)));
  const std::int64_t extent = line.back();
  if (k < 1 || k > extent)
    context.refuse("k = " + std::to_string(k) + " of " + std::to_string(extent));
  if (extent > largest_sorted) {
    context.refuse("more than " + std::to_string(largest_sorted) + " numbers along its axis");
  }
  const std::int64_t lines = element_count(line) / extent;
  const TensorIndex own = e.reshape(e.transpose(x, order), {lines, extent, 1});
  const TensorIndex other = e.reshape(own, {lines, 1, extent});
  const bool largest = attribute_int(e.node, "largest", 1) != 0;
  const TensorIndex before = largest ? e.add("Less", {own, other}) : e.add("Less", {other, own});
  const TensorIndex earlier = e.add("Less", {e.counting(extent, 2, 3, ElementType::int64),
                                             e.counting(extent, 1, 3, ElementType::int64)});
  const TensorIndex first =
      e.add("Or", {before, e.add("And", {e.add("Equal", {own, other}), earlier})});
  const TensorIndex ranks = e.add("ReduceSum", {e.add("Cast", {first}, {{"to", std::int64_t{7}}})},
                                  {{"axes", Ints{2}}, {"keepdims", std::int64_t{0}}});
  const TensorIndex hit = e.add(
      "Equal", {e.reshape(ranks, {lines, 1, extent}), e.counting(k, 1, 3, ElementType::int64)});
  Ints back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  }
  line.back() = k;
  const auto picked = [&](TensorIndex values) {
    const TensorIndex chosen = e.add("Where", {hit, values, e.number(0, e.type(values))});
    const TensorIndex sum =
        e.add("ReduceSum", {chosen}, {{"axes", Ints{2}}, {"keepdims", std::int64_t{0}}});
    return e.transpose(e.reshape(sum, line), back);
  };
  if (e.wants(0)) e.give(0, picked(other));
  if (e.wants(1)) e.give(1, picked(e.counting(extent, 2, 3, ElementType::int64)));
  return true;
}

bool expand_cum_sum(Expansion& e) {
  if (!e.has(1)) return false;
  NodeContext context = e.context();
  const auto rank = static_cast<std::int64_t>(e.shape(e.input(0)).size());
  Attributes attributes = e.node.attributes;
  attributes["axis"] = context.axis(context.constant_int(1), rank);
  e.give(0, "CumSum", {e.input(0)}, attributes);
  return true;
}

}  // namespace

void add_reduction_expanders(ExpanderTable* table) {
  (*table)["ReduceL1"] = expand_l1;
  (*table)["ReduceLogSum"] = expand_log_sum;
  (*table)["ReduceLogSumExp"] = expand_log_sum_exp;
  (*table)["ArgMax"] = expand_arg;
  (*table)["ArgMin"] = expand_arg;
  (*table)["Hardmax"] = expand_hardmax;
  (*table)["LogSoftmax"] = expand_log_softmax;
  (*table)["TopK"] = expand_top_k;
  (*table)["CumSum"] = expand_cum_sum;
}

}  // namespace fm
