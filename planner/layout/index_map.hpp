#pragma once
// Index comprehension: what a chain of movement operators makes of a tensor, as one map from the
// chain's result to the elements of the tensor it began with (SmartMem section 3.2.1).

#include <optional>
#include <string>
#include <vector>

#include "core/index_expression.hpp"
#include "planner/tensor_view.hpp"

namespace fm {

/// Elements of a base tensor under another shape and order. A chain of strided views, each over
/// the row-major elements of the one before; chains that strides express are kept as one view.
class IndexMap {
 public:
  /// All elements of a tensor of this shape, in order.
  explicit IndexMap(const Shape& shape = {}) : stages_{whole_view(shape)} {}
  explicit IndexMap(TensorView view) : stages_{std::move(view)} {}

  const Shape& shape() const { return stages_.back().shape; }
  /// The map as one view, where strides express it.
  std::optional<TensorView> strided() const;
  /// The views, that of the base first.
  const std::vector<TensorView>& stages() const { return stages_; }

  /// Row-major element of the base that has this index: one expression a dimension, each within it.
  IndexExpression element(const std::vector<IndexExpression>& index) const;
  /// The same for one index.
  std::int64_t element(const Shape& index) const;

  /// Through `view`, which is over the row-major elements of this map's shape.
  IndexMap through(const TensorView& view) const;
  /// This map's result as the base of `next`: first this, then `next`.
  IndexMap then(const IndexMap& next) const;

  friend bool operator==(const IndexMap& a, const IndexMap& b);

 private:
  void collapse();
  std::vector<TensorView> stages_;
};

/// As for views, but a reshape always succeeds. Element counts must agree.
IndexMap reshaped(const IndexMap& map, const Shape& shape);
IndexMap transposed(const IndexMap& map, const std::vector<std::int64_t>& permutation);
IndexMap sliced(const IndexMap& map, const std::vector<std::int64_t>& starts,
                const std::vector<std::int64_t>& steps, const Shape& extents);
IndexMap expanded(const IndexMap& map, const Shape& shape);
/// Gather along `axis` at constant positions (below zero: from the end) that are equally far apart;
/// nullopt for others. `indices`: the shape that takes the axis's place.
std::optional<IndexMap> taken(const IndexMap& map, std::size_t axis,
                              const std::vector<std::int64_t>& positions, const Shape& indices);
/// ONNX DepthToSpace of [N, C, H, W]; `column_row`: mode CRD instead of DCR.
IndexMap depth_to_space(const IndexMap& map, std::int64_t block, bool column_row);
/// ONNX SpaceToDepth of [N, C, H, W].
IndexMap space_to_depth(const IndexMap& map, std::int64_t block);

/// All elements of the base once, in another order: the map from the base's index to this one's.
/// nullopt where the map repeats or leaves out elements.
std::optional<IndexMap> inverse(const IndexMap& map, const Shape& base);

}  // namespace fm
