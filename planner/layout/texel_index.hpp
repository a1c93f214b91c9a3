#pragma once
// Where the texels of a tensor lie that is stored as another: the index function that a kernel
// reads or writes it through.

#include <string>

#include "core/plan.hpp"
#include "planner/layout/index_map.hpp"

namespace fm {

/// For texel (x, y) of a tensor's own grid, and element `lane` of it: texel and lane of the stored
/// tensor; of a `linear` stored tensor, the element (in `x`).
struct TexelIndex {
  IndexExpression x, y, lane;
  IndexExpression valid;  ///< elements of the texel that count, the others are 0; may exceed 4
  bool whole = false;     ///< every texel is a texel of the stored tensor; lane and valid unused
  bool plain = false;     ///< whole, and every texel at its own place
  bool linear = false;    ///< the stored tensor is linear

  /// The launch parameter that says so (kernels/index_function.hpp): "X, Y", "X, Y, LANE, VALID" or
  /// "ELEMENT, VALID".
  std::string text() const;
  int divisions() const { return x.divisions() + y.divisions() + lane.divisions(); }
};

/// The tensor is `map` of the elements of `stored`, seen in `layout` (rows, or channels of rank 4).
TexelIndex texel_index(const IndexMap& map, Layout layout, const PlanTensor& stored);

}  // namespace fm
