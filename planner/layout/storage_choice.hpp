#pragma once
// How each result is stored: in the order of elements that its readers want (SmartMem
// sections 3.2.2 and 3.3), so that the movement operators between need neither a copy nor index
// arithmetic in the readers' inner loops.

#include <map>
#include <optional>
#include <set>

#include "core/graph.hpp"
#include "planner/layout/index_map.hpp"
#include "planner/layout/readings.hpp"

namespace fm {

/// A tensor's elements as `map` of those of a tensor of `layout` and `shape`. The texel grid makes
/// two dimensions contiguous (k = 2): one packed in the texel, one along a side of the grid.
struct StorageForm {
  Layout layout = Layout::rows;
  Shape shape;
  IndexMap map;
};

/// Where a result goes when not into a stored tensor of its own.
struct StorageChoice {
  std::optional<StorageForm> own;
  std::optional<TensorIndex> concat;  ///< the joined tensor's storage: `map` of its elements
  std::optional<TensorIndex> output;  ///< the graph's output itself: `map` of its elements
  IndexMap map;
};

struct StoragePlan {
  /// Only for results that lie better in another way than their operator's own.
  std::map<TensorIndex, StorageChoice> results;
  /// Of the outputs of concatenations: their own layout where all parts are whole texels of it,
  /// else linear; linear too where nothing but the graph's output reads them, which is then their
  /// storage.
  std::map<TensorIndex, Layout> joined;
  std::set<TensorIndex> joined_outputs;
};

/// Each candidate form, the operator's own first, is the one that some reading takes as it lies;
/// its cost is that of writing the result so and of every reading: nothing where texels are at
/// their place, index arithmetic at every read, single elements instead of texels, or a copy.
/// Readings that no form serves alike get copies of their own.
StoragePlan choose_storage(const Graph& graph, const std::vector<Layout>& layouts);

/// Input `part` of a concatenation, of the elements of its output.
IndexMap part_of(const Graph& graph, const GraphNode& concat, std::size_t part);

/// The form in which `reading` of a tensor of `shape` is read as it lies, the tensor's other parts
/// around it; nullopt where the reading repeats elements, or strides do not express it.
std::optional<StorageForm> form_of(const Reading& reading, const Shape& shape);

/// What a reading costs when the tensor is stored so, in texel accesses.
double reading_cost(const StorageForm& form, const Reading& reading);

}  // namespace fm
