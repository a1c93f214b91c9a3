#include "planner/layout/readings.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "planner/layout/movement.hpp"
#include "planner/layout/operator_class.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

bool is_product(const GraphNode& node) {
  return node.operation == "MatMul" || node.operation == "Gemm";
}

bool is_windowed(const GraphNode& node) {
  static const std::set<std::string> operations = {"Conv", "ConvTranspose", "MaxPool",
                                                   "AveragePool", "Resize"};
  return operations.count(node.operation) != 0;
}

/// The map with the last dimensions from `axis` on as one.
IndexMap joined_from(const IndexMap& map, std::int64_t axis) {
  const Shape& shape = map.shape();
  const std::ptrdiff_t at = axis < 0 ? axis + static_cast<std::ptrdiff_t>(shape.size()) : axis;
  Shape rows(shape.begin(), shape.begin() + at);
  rows.push_back(element_count({shape.begin() + at, shape.end()}));
  return reshaped(map, rows);
}

IndexMap with_last(const IndexMap& map, std::size_t axis) {
  std::vector<std::int64_t> order(map.shape().size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
  order.push_back(static_cast<std::int64_t>(axis));
  return transposed(map, order);
}

Reading reading_of(const std::vector<Layout>& layouts, const GraphNode& node, std::size_t slot,
                   const IndexMap& map) {
  const Layout output = layouts[node.outputs[0]];
  if (is_product(node)) {
    if (slot == 1 && lies_transposed(map)) {
      return {Layout::rows, with_last_two_swapped(map), Reads::many};
    }
    return {Layout::rows, map, slot < 2 ? Reads::many : Reads::once};
  }
  if (node.operation == "Attention") {
    // Keys are rows of as many elements as queries, though the graph has them transposed.
    return {Layout::rows, slot == 1 ? with_last_two_swapped(map) : map,
            slot < 3 ? Reads::many : Reads::once};
  }
  if (is_windowed(node) && map.shape().size() == 4) {
    return {Layout::channels, map, slot == 0 ? Reads::many : Reads::once};
  }
  if (slot == 0 && node.operation == "LayerNormalization") {
    return {Layout::rows, joined_from(map, attribute_int(node, "axis", -1)), Reads::thrice};
  }
  if (slot == 0 && node.operation == "Softmax") {
    const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
    return {Layout::rows, with_last(map, axis), Reads::thrice};
  }
  const bool channels =
      output == Layout::channels || layouts[node.inputs[slot].value()] == Layout::channels;
  return {channels && map.shape().size() == 4 ? Layout::channels : Layout::rows, map, Reads::once};
}

bool eliminates_second(PairAction action) {
  return action == PairAction::eliminate_second || action == PairAction::eliminate_both;
}

/// `first`: class of the operator whose result `tensor` is.
void collect(const Graph& graph, const std::vector<Layout>& layouts, TensorIndex tensor,
             LayoutClass first, const IndexMap& map, Readings* found) {
  if (std::count(graph.outputs.begin(), graph.outputs.end(), tensor) != 0) {
    found->destinations.push_back({tensor, nullptr, 0, map});
  }
  for (const GraphNode& node : graph.nodes) {
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (node.inputs[slot] != tensor) continue;
      const LayoutClass second = layout_class(graph, node);
      std::optional<IndexMap> moved;
      if (slot == 0 && eliminates_second(pair_action(first, second))) {
        moved = movement_map(graph, node, map);
      }
      if (moved) {
        collect(graph, layouts, node.outputs[0], second, *moved, found);
      } else if (node.operation == "Concat") {
        found->destinations.push_back({node.outputs[0], &node, slot, map});
      } else {
        found->readings.push_back(reading_of(layouts, node, slot, map));
        found->readings.back().reader = &node;
      }
    }
  }
}

}  // namespace

Readings readings_of(const Graph& graph, const std::vector<Layout>& layouts, TensorIndex tensor) {
  Readings found;
  collect(graph, layouts, tensor, LayoutClass::dependent_variable,
          IndexMap(graph.tensors[tensor].shape), &found);
  return found;
}

bool works_in_any_order(const Graph& graph, const GraphNode& node) {
  return layout_class(graph, node) == LayoutClass::independent_variable;
}

bool lies_transposed(const IndexMap& map) {
  const auto view = map.strided();
  const std::size_t rank = map.shape().size();
  return view && rank >= 2 && view->strides[rank - 2] == 1 && view->strides[rank - 1] != 1 &&
         view->shape[rank - 2] > 1 && view->shape[rank - 1] > 1;
}

IndexMap with_last_two_swapped(const IndexMap& map) {
  std::vector<std::int64_t> order(map.shape().size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transposed(map, order);
}

}  // namespace fm
