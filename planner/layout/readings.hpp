#pragma once
// How the operators that stay read a tensor, through the movement operators that do not.

#include <string>
#include <vector>

#include "core/graph.hpp"
#include "planner/layout/index_map.hpp"

namespace fm {

/// About how often a kernel reads an element of an operand: decides between index arithmetic at
/// every read and one copy.
enum class Reads : int {
  once = 1,
  thrice = 3,  ///< softmax, layer normalisation: a pass each
  many = 64    ///< products and windows: once for every tile of the result
};

/// A kernel reads `map` of a tensor's elements as a tensor of `layout`: the packed dimension is the
/// one it reduces over, or the one it packs its result along; the second dimension of a right-hand
/// side is then the other one.
struct Reading {
  Layout layout = Layout::rows;
  IndexMap map;
  Reads times = Reads::once;
  const GraphNode* reader = nullptr;
};

/// Everything that reads the result of an operator whose output layout is free.
struct Readings {
  std::vector<Reading> readings;
  /// The tensor as a whole, in another order, becomes this output of the graph, or this part
  /// (input number) of a Concat node; the map is of that over the tensor's elements.
  struct Destination {
    std::size_t output = 0;  ///< tensor
    const GraphNode* concat = nullptr;
    std::size_t part = 0;
    IndexMap map;
  };
  std::vector<Destination> destinations;
  std::size_t readers() const { return readings.size() + destinations.size(); }
};

/// `layouts`: of every tensor (preferred_layouts()).
Readings readings_of(const Graph& graph, const std::vector<Layout>& layouts, TensorIndex tensor);

/// Elementwise, operands of the result's shape: it works in any order of elements (ILI-Variable).
bool works_in_any_order(const Graph& graph, const GraphNode& node);

/// Neighbours along the second last dimension are neighbours in memory: a product reads its right
/// side as [.., N, K].
bool lies_transposed(const IndexMap& map);
IndexMap with_last_two_swapped(const IndexMap& map);

}  // namespace fm
